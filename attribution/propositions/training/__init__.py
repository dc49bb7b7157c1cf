"""Train the learned splitter: sentences with their propositions in, a file of a few megabytes out."""
