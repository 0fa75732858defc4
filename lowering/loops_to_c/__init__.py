"""From the `loops` phase to C11 that a person can read and a compiler takes without a warning."""
