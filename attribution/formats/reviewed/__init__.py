"""Write a cited text that people reviewed: in its own file, with a remark at the place of each fact.

| module | content |
|---|---|
| `decisions` | what a reader decided on a fact |
| `remarks` | what is written at a fact: verdict, quotes with their sources, the decision |
| `places` | where the words of a text are in another one: in its Word or Markdown file |
| `commented` | a Word document with comments |
| `footnoted` | Markdown with footnotes |
"""
