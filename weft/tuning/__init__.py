"""Tuning: which of the schedules that the rules propose is the fastest, by measuring."""
