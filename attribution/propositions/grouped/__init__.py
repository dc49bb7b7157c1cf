"""The claims that the network groups words into: the words of each, and these written as a sentence by a network."""
