"""The claims that the network groups words into: the words of each, and these worded as a sentence by the parse."""
