"""Turn a heading into a question that its section answers: what it asks, or about the task or subject that it names.

The last, "What does the guide say about upkeep?", is for documents whose sentences have no plain form.
"""

from __future__ import annotations

import re

from propcite.app.answering.naming import without_number
from propcite.app.overview.clauses import Form
from propcite.app.overview.statements import has_verb
from propcite.app.overview.subjects import Spelling
from propcite.attribution.english import content_words, is_question, lexicon, share_found, verbs

MAX_SUBJECT_WORDS, MAX_NAME_WORDS = 8, 9
SAME_NAME = 0.5  # share of a heading's words that its document's title has
MAX_INITIALS = 3  # letters; a longer word in capitals is a word
OPENS = frozenset("who whose what which when where why how".split())  # of headings: others ask for yes or no

_TO = re.compile(r"how to (?=\w)", re.IGNORECASE)
_SETTING = re.compile(
    r"(?P<name>(?:--)?[a-z]\w*(?:[_-]\w+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?: (?:\(\w+\)|[A-Z0-9|]+))?"
)
_SENTENCES = re.compile(r"[.!?] +[A-Z]")
_REFERS = re.compile(r"\b(?:this|these|those|that|it|its|they|them|he|she|his|her)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[\w“\"‘'/.].*[\w)”\"’']")
_MARKS = re.compile(r"[=:;{}\[\]|<>*]| - |\.\.\.|…")
# Headings that say where one is in a document, not what it tells.
_PLACES = lexicon.words("""
    about abstract acknowledgements acknowledgments also annex appendix author authors background before begin
    begins bibliography bugs changelog changes chapter comments conclusion conclusions conditions content contents
    copyright credits definitions deprecated description details end example examples features figure files fixes
    foreword further general glossary history improved index internal introduction lifecycle links misc
    miscellaneous modules more name new note notes option options other others overview page parameters part preface
    prologue purpose rationale reading reference references requirements scope section see since summary synopsis
    table terms thanks usage version versions
""")


def heading_form(heading: str, document: str, spelling: Spelling) -> Form | None:
    """Return the question that a section answers by its heading; None where the heading names no subject.

    >>> heading_form("5.3 How can I wipe the header?", "FAQ", Spelling()).question
    'How can I wipe the header?'
    >>> heading_form("2. Raising the gates", "Manual", Spelling()).question
    'How do you raise the gates?'
    >>> heading_form("Public holidays", "Harbour rules 2024", Spelling(frozenset({"public"}))).question
    'What does Harbour rules 2024 say about public holidays?'
    >>> heading_form("Summary", "Harbour rules 2024", Spelling()) is None
    True
    """
    text = without_number(" ".join(heading.split())).strip(" ¶#*.:").removeprefix("Q: ")
    first, _, rest = text.partition(" ")
    if not _PLAIN.match(text) or _SENTENCES.search(text) or _REFERS.search(text):
        return None
    if text.endswith("?"):
        asks = first.lower() in OPENS and is_question(text) and has_verb(text) and len(content_words(text)) > 1
        return Form(text, "heading") if asks else None
    if _MARKS.search(text) or len(text.split()) > MAX_SUBJECT_WORDS:
        return None
    if setting := _SETTING.fullmatch(text):
        return Form(f"What does {setting['name']} do?", "setting")
    own = _as_inside(text, spelling)
    if _TO.match(text):
        return Form(f"How do you {_as_inside(text[7:], spelling)}?", "task")
    verb = first.lower()
    base = verb if verb in verbs.BASE_VERBS - verbs.NOUN_VERBS else verbs.base_of(verb)
    if base and content_words(rest) and " and " not in own:
        return Form(f"How do you {base} {_as_inside(rest, spelling)}?", "task")
    name = document_name(document)
    telling = [word for word in re.findall(r"[^\W\d]{3,}", text.lower()) if word not in _PLACES]
    known = share_found(content_words(text), content_words(document)) >= SAME_NAME
    if not name or not set(telling) - lexicon.FUNCTION_WORDS or known or has_verb(own):
        return None
    return Form(f"What does {name} say about {own}?", "section")


def document_name(title: str) -> str:
    """Return what a question calls a document; empty where its title is too long.

    >>> document_name("Chapter 6. The harbour"), document_name("Harbour rules 2024"), document_name("gitfaq")
    ('The harbour', 'Harbour rules 2024', 'the document gitfaq')
    """
    name = re.sub(r"^(?:(?:chapter|section|part|appendix)\s+\w+[.:]?\s+)", "", title, flags=re.IGNORECASE)
    name = without_number(name).split(" | ")[0].strip(" .:¶#")
    first = re.split(r"\W", name.lower())[0]
    if first in OPENS | _PLACES or len(name.split()) > MAX_NAME_WORDS or name.endswith("?"):
        return ""
    if " " not in name and not re.search(r"\d|[A-Z]", name):
        return f"the document {name}"
    return name


def _as_inside(text: str, spelling: Spelling) -> str:
    """Return a heading as it is written inside a sentence: capitals stay where the text writes a word so."""
    words = text.split()
    is_titled = all(word[:1].isupper() or word.lower() in lexicon.FUNCTION_WORDS for word in words) and len(words) > 1

    def small(at: int, word: str) -> bool:
        known = word.lower().strip(",") in spelling.small
        shouted = word.isupper() and len(word) > MAX_INITIALS
        return known and (shouted or (word[1:] == word[1:].lower() and (at == 0 or is_titled)))

    closed = lexicon.FUNCTION_WORDS
    return " ".join(w.lower() if w.lower() in closed or small(at, w) else w for at, w in enumerate(words))
