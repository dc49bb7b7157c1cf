"""Put chosen sentences together so that each stands alone: with its lead, its antecedent, and its document's name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.app.answering.extracting.candidates import Candidate
from propcite.retrieval.text import Passage

DIRECT_FROM = 0.5  # probability from which an answer begins with the words that answer
MAX_DIRECT = 12  # words
MAX_DIRECT_SHARE = 0.6  # of the sentence's words; more would only repeat it
MAX_ITEMS = 8  # of a list that a chosen lead opens

_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦●○■□–—·►✓✔]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+", re.IGNORECASE)
_ENDS = re.compile(r"[.:!?…。！？][\"”’»)\]]*(?:\[\d+\])*$")
_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|them|he|his|she|her|this|these|those|that|such|both|the (?:former|latter|same))\b", re.I
)


def direct_words(chosen: Candidate) -> str:
    """Return the words that answer, as the first sentence of an answer; empty where they are not sure or too many."""
    words = chosen.direct
    count = len(words.split())
    if not words or chosen.words_probability < DIRECT_FROM or count > MAX_DIRECT:
        return ""
    if count > MAX_DIRECT_SHARE * len(chosen.text.split()) or not any(map(str.isalnum, words)):
        return ""
    words = words.strip(" ,;:")
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def compose(chosen: Sequence[Candidate], *, naming: bool) -> str:
    """Return the text of these sentences, in reading order, per document in the order of the first chosen.

    `naming` puts the title of each document above its sentences.
    """
    documents = list(dict.fromkeys(_document(c.passage) for c in chosen))
    texts = []
    for document in documents:
        own = [c for c in chosen if _document(c.passage) == document]
        text = _text_of(own)
        title = own[0].passage.title.strip()
        texts.append(f"From “{title}”:\n{text}" if naming and title else text)
    return "\n".join(texts) if naming else _joined(texts)


def _document(passage: Passage) -> str:
    return passage.document_id or passage.id


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
    text = _sentence(passage, number)
    if _ITEM.match(text):
        lead = next((n for n in range(number - 1, -1, -1) if not _ITEM.match(_sentence(passage, n))), None)
        if lead is not None and _sentence(passage, lead).endswith(":"):
            needed.add(lead)
    elif text.endswith(":"):
        for following in range(number + 1, min(number + 1 + MAX_ITEMS, len(passage.sentences))):
            if not _ITEM.match(_sentence(passage, following)):
                break
            needed.add(following)
    elif _REFERS_BACK.match(text) and number and not passage.sentences[number - 1].is_heading:
        needed.add(number - 1)
    return needed


def _sentence(passage: Passage, number: int) -> str:
    return passage.sentences[number].span.of(passage.text).strip()


def _written(passage: Passage, numbers: Sequence[int]) -> str:
    """Write sentences of a passage: prose runs on, an item of a list begins a line."""
    text, was_item = "", False
    for number in numbers:
        words = _sentence(passage, number)
        if not words or passage.sentences[number].is_heading:
            continue
        mark = _ITEM.match(words)
        is_item = len(numbers) > 1 and mark is not None
        bare = _closed(words[mark.end() :] if mark else words)
        separator = "\n" if is_item or was_item else " "
        text = f"{text}{separator if text else ''}{'- ' if is_item else ''}{bare}"
        was_item = is_item
    return text


def _closed(sentence: str) -> str:
    """Return a sentence on one line with an end mark; a table's row reads as `name: value, value`."""
    line = " ".join(sentence.split()).replace(" | ", ": ", 1).replace(" | ", ", ")
    return line if _ENDS.search(line) else f"{line.rstrip(';,')}."


def _joined(texts: Sequence[str]) -> str:
    """Join texts with spaces, or with line breaks where one of them has a list."""
    return ("\n" if any("\n" in text for text in texts) else " ").join(texts)
