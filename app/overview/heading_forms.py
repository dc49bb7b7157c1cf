"""Turn a heading into a question that its section answers: what it asks, or about the task or subject that it names.

The last, "What does the guide say about upkeep?", is for documents whose sentences have no plain form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.app.answering.headings import DOCUMENT_NOUNS, without_number
from propcite.app.overview.clauses import Form
from propcite.app.overview.statements import has_verb
from propcite.app.overview.subjects import ORDERS, Spelling, is_plural
from propcite.attribution.english import content_words, is_question, lexicon, share_found, tag, verbs

MAX_SUBJECT_WORDS, MAX_NAME_WORDS = 8, 9
SAME_NAME = 0.5  # share of a heading's words that its document's title has
MAX_INITIALS = 3  # letters; a longer word in capitals is a word
OPENS = frozenset("who whose what which when where why how".split())  # of headings: others ask for yes or no

_SEVERAL = re.compile(r"[A-Za-z]+s (?:of|for|on) ")  # as "Minutes of the council"
_TO = re.compile(r"how to (?=\w)", re.IGNORECASE)
_SETTING = re.compile(
    r"(?P<name>--[a-z][\w-]+|[a-z]\w*(?:_\w+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?<!s))(?: (?:\(\w+\)|[A-Z0-9|]+))?"
)
_NO_OBJECT = lexicon.PREPOSITIONS | {"of", "to", "and", "or", "time", "times", "hours", "days"}
_SENTENCES = re.compile(r"[.!?] +[A-Z]")
_REFERS = re.compile(r"\b(?:this|these|those|that|it|its|they|them|he|she|his|her)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[\w“\"‘'/.].*[\w)”\"’']")
_MARKS = re.compile(r"\d\.\d|\d, (?:19|20)\d\d|[=:;{}\[\]|<>*]| - |\.\.\.|…")
# Headings that say where one is in a document, not what it tells.
_PLACES = lexicon.words("""
    about abstract acknowledgements acknowledgments also annex apologies appendix author authors background before
    begin begins bibliography bugs business changelog changes chapter comments conclusion conclusions conditions
    content contents copyright credits definitions deprecated description details end example examples faq features
    figure files fixes foreword further general glossary history improved index ingredients internal introduction
    keywords lifecycle links meeting method methods misc miscellaneous modules more name new next note notes option
    options other others overview page parameters part preface prologue purpose rationale reading reference
    references requirements results scope section see since summary synopsis table terms thanks tips usage version
    versions
""")


def heading_forms(heading: str, document: str, spelling: Spelling) -> Iterator[Form]:
    """Yield the questions that a section answers by its heading; nothing where the heading names no subject.

    >>> [form.question for form in heading_forms("5.3 How can I wipe the header?", "FAQ", Spelling())]
    ['How can I wipe the header?']
    >>> [form.question for form in heading_forms("2. Raising the gates", "Manual", Spelling())]
    ['How do you raise the gates?', 'What does the document Manual say about raising the gates?']
    >>> [form.question for form in heading_forms("Gates", "Harbour rules 2024", Spelling(frozenset({"gates"})))]
    ['What does Harbour rules 2024 say about gates?']
    >>> list(heading_forms("Summary", "Harbour rules 2024", Spelling()))
    []
    """
    text = without_number(" ".join(heading.split())).strip(" ¶#*.:").removeprefix("Q: ")
    first, _, rest = text.partition(" ")
    if not _PLAIN.match(text) or _SENTENCES.search(text) or _REFERS.search(text):
        return
    if text.endswith("?"):
        if first.lower() in OPENS and is_question(text) and has_verb(text) and len(content_words(text)) > 1:
            yield Form(text, "heading")
        return
    if _MARKS.search(text) or len(text.split()) > MAX_SUBJECT_WORDS:
        return
    if setting := _SETTING.fullmatch(text):
        yield Form(f"What does {setting['name']} do?", "setting")
        return
    own = _as_inside(text, spelling)
    if _TO.match(text):
        yield Form(f"How do you {_as_inside(text[7:], spelling)}?", "task")
        return
    if (verb := _task(first, rest)) and " and " not in own and "&" not in own:
        yield Form(f"How do you {verb} {_as_inside(rest, spelling)}?", "task")
    if first.lower() not in ORDERS and _names_subject(text, own):
        yield from _on_subject(text, own, document)


def _names_subject(text: str, own: str) -> bool:
    """Return whether a heading tells what its section is about, rather than where it stands."""
    words = set(re.findall(r"[^\W\d]{3,}", text.lower()))
    return bool(words - _PLACES - lexicon.FUNCTION_WORDS) and not has_verb(own) and tag(own, own).tags[0] != "a"


def _on_subject(text: str, own: str, document: str) -> Iterator[Form]:
    name = document_name(document)
    if name and share_found(content_words(text), content_words(document)) < SAME_NAME:
        does = "do" if name.startswith("the ") and _SEVERAL.match(name[4:]) else "does"
        yield Form(f"What {does} {name} say about {own}?", "section")


def _task(first: str, rest: str) -> str:
    """Return the verb of a heading that names a task, as "Raising the gates"; empty where it names none."""
    low, second = first.lower(), rest.partition(" ")[0]
    if first.isupper() or not content_words(rest) or second in _NO_OBJECT:
        return ""
    if low.endswith("ing"):
        return verbs.base_of(low) or ""
    return low if low in ORDERS and not second[:1].isupper() else ""


def document_name(title: str) -> str:
    """Return what a question calls a document; empty where its title is too long, or no name.

    >>> document_name("Minutes of the council, 3 May 2024")
    'the minutes of the council'
    >>> document_name("Chapter 6. The harbour"), document_name("Harbour rules 2024"), document_name("gitfaq")
    ('the document The harbour', 'Harbour rules 2024', 'the document gitfaq')
    """
    name = re.sub(r"^(?:(?:chapter|section|part|appendix)\s+\w+[.:]?\s+)", "", title, flags=re.IGNORECASE)
    name = without_number(name).split(" | ")[0].strip(" .:¶#")
    first = re.split(r"\W", name.lower())[0]
    if first in OPENS | _PLACES or first.endswith("ing") or len(name.split()) > MAX_NAME_WORDS or name.endswith("?"):
        return ""
    if _SEVERAL.match(name) and is_plural(name.split()[0].lower()):
        return f"the {name[0].lower()}{name[1:]}".split(",")[0]
    if not name or name.count('"') % 2 or name.count("“") != name.count("”"):
        return ""
    names_kind = (
        DOCUMENT_NOUNS & set(re.findall(r"\w+", name.lower())) if " " in name else re.search(r"\d|\w[A-Z]", name)
    )
    return name if names_kind else f"the document {name}"


def _as_inside(text: str, spelling: Spelling) -> str:
    """Return a heading as it is written inside a sentence: capitals stay where the text writes a word so."""
    words = text.split()
    is_titled = all(word[:1].isupper() or word.lower() in lexicon.FUNCTION_WORDS for word in words) and len(words) > 1
    is_loud = text.isupper()

    def small(at: int, word: str) -> bool:
        low = word.lower().strip(",")
        if word.isupper():
            return is_loud and low in spelling.small and len(word) > MAX_INITIALS
        plain = word[1:] == word[1:].lower() and (is_titled or at == 0)
        return plain and (spelling.writes_small(low) or (at == 0 and verbs.base_of(low) is not None))

    closed = lexicon.FUNCTION_WORDS
    return " ".join(w.lower() if w.lower() in closed or small(at, w) else w for at, w in enumerate(words))
