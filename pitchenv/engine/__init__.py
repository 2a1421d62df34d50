"""The rules as compiled kernels over one match record, a file a phase, in the order of play."""
