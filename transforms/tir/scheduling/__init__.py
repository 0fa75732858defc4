"""Schedules as a whole: handles that survive, instructions that are recorded as they are applied, and their replay."""
