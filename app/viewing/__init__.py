"""Documents as a person knows them: the page of a PDF, the rendered text, the row of a table, with the words marked.

| module | what it does |
|---|---|
| `viewer` | all of this for a library, ready to be sent |
| `pages` | a PDF's page as a picture, drawn in a process of its own (`drawing`) |
| `reading` | any document as one HTML page that starts nothing and loads nothing |
| `rendered` | Markdown and HTML as they are meant to look, without anything that acts |
| `tables` | the rows around the one that is cited |
| `marking` | words found again in HTML, and marked |
"""

from propcite.app.viewing.reading import Spot
from propcite.app.viewing.viewer import Shown, Viewer, span_of

__all__ = ["Shown", "Spot", "Viewer", "span_of"]
