"""Compare two texts whole, without a question: sentence beside sentence, in the order of the texts.

| | |
|---|---|
| `records` | `TextComparison` and its `SentencePair`s: what a comparison returns |
| `words` | which words of two sentences differ |
| `pairing` | which sentences belong together: copies first, then those that are alike in words and vectors |
| `comparing` | the whole of it; the judge says what a pair has in common |
"""
