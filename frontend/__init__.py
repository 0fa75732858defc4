"""Importers: programs that turn another framework's models into `relay`."""
