"""Drafts under review: a long text is cited over a collection, its facts are decided on, and it is written back.

| module | content |
|---|---|
| `drafts` | a draft's text, read from its file |
| `citing` | cites a draft as work that shows how far it is and can be cancelled |
| `facts` | the facts of a draft with their verdicts and decisions |
| `parts_of_text` | a long text in parts that are shown one at a time |
| `command` | `propcite review` and `propcite reviews` |
| `exports` | the draft with comments (Word) or footnotes (Markdown) |
"""
