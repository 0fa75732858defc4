"""Running compiled graphs: memory, threads, loaded code, artefacts on disk."""
