"""Put chosen sentences together so that each stands alone: with its lead, its antecedent, and its document's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from propcite.app.answering.extracting.candidates import ITEM, Candidate, is_item, refers_elsewhere
from propcite.app.answering.headings import without_number
from propcite.attribution.english import Form, answer_form, can_answer
from propcite.retrieval.text import Passage

DIRECT_FROM = 0.5  # probability from which an answer begins with the words that answer
MAX_DIRECT = 12  # words
MAX_DIRECT_SHARE = 0.6  # of the sentence's words; more would only repeat it
MAX_ITEMS = 8  # of a list that a chosen lead opens
MAX_FRAGMENT = 3  # words of a sentence that says nothing without its heading

_CAPTION = re.compile(r"(?:table|figure|listing|example)\s+\d", re.IGNORECASE)
_SIGNATURE = re.compile(r"[\[<|=]")  # in what follows the name of a setting
_RULE = re.compile(r"[=~#*_+-]{4,}")  # below a title or between parts of a text
_ROW = re.compile(r",\s|\band\b")
_ENDS = re.compile(r"[.:!?…。！？][\"”’»)\]]*(?:\[\d+\])*$")
_STOPS = re.compile(r"[.!?…]+(?=[^\w\s]*(?:\s|$))|[。！？]")
_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|them|he|his|she|her|this|these|those|that|such|both|the (?:former|latter|same))\b", re.I
)


def direct_words(chosen: Candidate, question: str) -> str:
    """Return the words that answer, as the first sentence of an answer; empty where they are not sure or too many.

    Only a detail, or several things in a row, can be said in a few words.
    """
    words, form = chosen.direct, answer_form(question)
    count = len(words.split())
    if form in (Form.YES_NO, Form.EXPLANATION) or (form is Form.SEVERAL and not _ROW.search(words)):
        return ""
    if not words or chosen.words_probability < DIRECT_FROM or count > MAX_DIRECT:
        return ""
    if count > MAX_DIRECT_SHARE * len(chosen.text.split()) or not any(map(str.isalnum, words)):
        return ""
    if not can_answer(question, words):
        return ""
    words = words.strip(" ,;:")
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def compose(chosen: Sequence[Candidate], *, naming: bool, form: Form = Form.DETAIL) -> str:
    """Return the text of these sentences, in reading order, per document in the order of the first chosen.

    `naming` puts the title of each document above its sentences.  To a question for several things, a list that the
    best sentence is from is the answer, whole.
    """
    if form is Form.SEVERAL and (whole := _list_of(chosen[0].passage, chosen[0].number)):
        return _written(chosen[0].passage, whole)
    documents = list(dict.fromkeys(_document(c.passage) for c in chosen))
    texts = []
    for document in documents:
        own = [c for c in chosen if _document(c.passage) == document]
        text = _text_of(own)
        name = _name(own[0].passage) if naming else ""
        texts.append(f"From “{name}”:\n\n{text}" if name else text)
    return "\n\n".join(texts) if naming else _joined(texts)


def _document(passage: Passage) -> str:
    return passage.document_id or passage.id


def _name(passage: Passage) -> str:
    """Return the title of a passage's document without stops: a name is not cut into sentences, which would be checked.

    >>> _name(Passage("1", "It cost 5 euros.", "Works. Vol. 2 › 4.2. Cost"))
    'Works Vol 2'
    """
    return " ".join(_STOPS.sub("", passage.title.split(" › ")[0]).split())


def _text_of(chosen: Sequence[Candidate]) -> str:
    """Write the sentences of one document with what each needs to stand alone."""
    passages = {c.passage.id: c.passage for c in chosen}
    wanted: dict[str, set[int]] = {}
    for candidate in chosen:
        wanted.setdefault(candidate.passage.id, set()).update(_standing_alone(candidate.passage, candidate.number))
    in_order = sorted(wanted, key=lambda id_: passages[id_].start)
    return _joined([_written(passages[id_], sorted(wanted[id_])) for id_ in in_order])


def _standing_alone(passage: Passage, number: int) -> set[int]:
    """Return the numbers of a sentence and of those around it that it cannot do without."""
    needed = {number}
    if whole := _list_of(passage, number):
        needed.update(whole if number == whole[0] else whole[:1])
    elif _opens_example(passage, number):
        needed.add(number + 1)
    else:
        needed.update(_antecedents(passage, number))
    return needed


def _antecedents(passage: Passage, number: int) -> Iterator[int]:
    """Yield the numbers of the sentences before one that begins with a pronoun, up to one that names something."""
    while number and _REFERS_BACK.match(_sentence(passage, number)) and not passage.sentences[number - 1].is_heading:
        number -= 1
        before = _sentence(passage, number)
        if not any(map(str.isalpha, before)) or refers_elsewhere(before):
            return
        yield number


def _list_of(passage: Passage, number: int) -> list[int]:
    """Return the numbers of a list's lead and items if a sentence is one of these; empty if it is not in a list.

    Of an item of several sentences only the first counts.  The lead is a sentence that ends with a colon, or the line
    or heading right above the first item.
    """
    texts, sentences = [_sentence(passage, n) for n in range(len(passage.sentences))], passage.sentences

    def is_lead(n: int) -> bool:
        if is_item(texts[n]) and not sentences[n].is_heading:
            return False
        opens = n + 1 < len(texts) and not sentences[n + 1].is_heading and is_item(texts[n + 1])
        return texts[n].endswith(":") or (opens and (sentences[n].is_heading or not _ENDS.search(texts[n])))

    lead = next((n for n in range(number, -1, -1) if is_lead(n)), None)
    if lead is None or any(sentences[n].is_heading for n in range(lead + 1, number + 1)):
        return []
    ends = (n for n in range(lead + 1, len(texts)) if sentences[n].is_heading or _opens_another(texts[n]))
    items = [n for n in range(lead + 1, next(ends, len(texts))) if is_item(texts[n])]
    if not items or number not in (lead, *items):
        return []
    return [lead, *items[: max(MAX_ITEMS, items.index(number) + 1 if number in items else 0)]]


def _opens_another(text: str) -> bool:
    return text.endswith(":") and not is_item(text)


def _opens_example(passage: Passage, number: int) -> bool:
    """Return whether a sentence says nothing without the next one, such as "Close it like this:"."""
    if number + 1 == len(passage.sentences) or not _sentence(passage, number).endswith(":"):
        return False
    return not _CAPTION.match(_sentence(passage, number + 1))


def _sentence(passage: Passage, number: int) -> str:
    return passage.sentences[number].span.of(passage.text).strip()


def _written(passage: Passage, numbers: Sequence[int]) -> str:
    """Write sentences of a passage: prose runs on, an item of a list begins a line."""
    text, was_item = "", False
    written = [n for n in numbers if not passage.sentences[n].is_heading and _sentence(passage, n)]
    for number in written:
        words = _sentence(passage, number)
        mark = ITEM.match(words)
        is_item = len(written) > 1 and mark is not None
        bare = _closed(words[mark.end() :] if mark else words)
        is_fragment = not is_item and not words.endswith(":") and len(words.split()) <= MAX_FRAGMENT
        if is_fragment and (heading := _heading(passage)):
            bare = f"{heading}: {bare}"
        separator = "\n" if is_item or was_item else " "
        text = f"{text}{separator if text else ''}{'- ' if is_item else ''}{bare}"
        was_item = is_item
    return text


def _heading(passage: Passage) -> str:
    """Return the heading that a passage lies under, of a setting its name alone; empty if there is none."""
    above, _, heading = passage.title.rpartition(" › ")
    words = without_number(heading) if above else ""
    return words.split()[0] if _SIGNATURE.search(words) else words


def _closed(sentence: str) -> str:
    """Return a sentence on one line with an end mark; a table's row reads as `name: value, value`."""
    words = (word for word in sentence.split() if not _RULE.fullmatch(word))
    line = " ".join(words).replace(" | ", ": ", 1).replace(" | ", ", ")
    return line if _ENDS.search(line) else f"{line.rstrip(';,')}."


def _joined(texts: Sequence[str]) -> str:
    """Join texts with spaces, or with line breaks where one of them has a list."""
    return ("\n" if any("\n" in text for text in texts) else " ").join(texts)
