"""The commands. What they share: `entry` (errors and exit codes), `output` (files)."""
