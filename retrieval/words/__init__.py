"""Exact words beside vectors: the word pieces that an index stores with its vectors, listed by piece.

A term is one piece of the encoder's vocabulary, or two pieces that touch, with no space between them.  So a rare name
("ven" + "##n" + "##mouth"), a code ("ab" + "-" + "12"), a number with its unit ("6" + "." + "4" + "m") and two adjacent
Chinese characters count as one thing, in any language that the vocabulary writes, without rules of our own.
"""
