"""A local page of everything in a folder of runs: what is there, what is happening, and any record of it."""
