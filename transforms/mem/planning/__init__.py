"""Where buffers lie: the problem, and strategies that solve it. No IR here."""
