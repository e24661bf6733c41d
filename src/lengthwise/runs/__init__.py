"""One run: a plan, the folder it is kept in, and the two verbs `train` and `measure`."""
