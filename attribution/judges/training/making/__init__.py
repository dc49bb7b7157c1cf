"""Make examples for training a judge: real sentences, rewritten so that it is known whether they still hold."""
