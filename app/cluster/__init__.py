"""A Ray cluster of several machines: each joins it by command, and servers run on its machines by Ray Serve."""
