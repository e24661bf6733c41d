"""A local page of everything in a folder of runs: its studies and runs, their progress, and any of their records."""
