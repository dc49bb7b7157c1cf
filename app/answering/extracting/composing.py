"""Put chosen sentences together so that each stands alone: with its lead, its antecedent, and its document's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from propcite.app.answering.extracting.candidates import ITEM, Candidate, is_item, refers_elsewhere
from propcite.app.answering.headings import without_number
from propcite.attribution.english import NUMBER_WORDS, Form, answer_form, can_answer, tag
from propcite.retrieval.text import Passage

DIRECT_FROM = 0.5  # probability from which an answer begins with the words that answer
MAX_DIRECT = 12  # words
MAX_DIRECT_SHARE = 0.6  # of the sentence's words; more would only repeat it
MAX_ITEMS = 8  # of a list that a chosen lead opens
MAX_FRAGMENT = 3  # words without a verb that say nothing without their heading
MAX_LABEL = 5  # and those that open an item of a list: "Offline maps. Regions can be saved."

_CAPTION = re.compile(r"(?:table|figure|listing|example)\s+\d", re.IGNORECASE)
_VERBS = re.compile("[VMBHY]")  # tags
_NUMBER = re.compile(rf"[€$£±−-]?\s?\d|(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
# What belongs to a number behind it: "at least 20", "9 to 32", "between 9 and 32".
_BEFORE_NUMBER = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|at\s+least|at\s+most|up\s+to|within"
    r"|(?:more|less|fewer|later|earlier)\s+than)\s+(?:[€$£]|[A-Z]{3}\s)?"
    r"|(?<!\bfrom )(?:[€$£]|\b[A-Z]{3}\s)?[±−-]?\b\d[\d.,]*\s?(?:%|°C)?\s*(?:\bto\b|[–—-])\s*"
    r"|\bbetween\s+\S*\d\S*\s+and\s+)$"
)
_WORD = re.compile(r"[^\W\d_]+(?![\w./])")
_AFTER_NUMBER = re.compile(r"\s+(?:before|after|prior\s+to|following)\s[^,;.(]+", re.IGNORECASE)  # "before it starts"
_LONGEST_BEFORE = 60  # characters
_DENIES = re.compile(r"\b(?:not|no|never|cannot)\b|n['’]t\b", re.IGNORECASE)
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
    words, form = _whole(chosen), answer_form(question)
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
    opens = words[:1].upper() if _WORD.match(words) else words[:1]  # an identifier keeps its small letter
    return f"{opens}{words[1:].rstrip('.')}."


def _whole(chosen: Candidate) -> str:
    """Return the words that answer with what belongs to their number, and without half a pair of brackets."""
    if chosen.words is None:
        return ""
    text, start = chosen.passage.text, chosen.words.start
    sentence = chosen.passage.sentences[chosen.number].span
    while _NUMBER.match(text, start):
        first = max(sentence.start, start - _LONGEST_BEFORE)
        before = _BEFORE_NUMBER.search(text[first:start])
        # Of what has "not more than 64" the most is 64.
        if not before or ("than" in before[0] and _DENIES.search(text[sentence.start : start])):
            break
        start = first + before.start()
    end = chosen.words.end
    if _NUMBER.match(text, start) and (after := _AFTER_NUMBER.match(text, end, sentence.end)):
        end = after.end()
    words = " ".join(text[start:end].split())
    opens, closes = words.find("("), words.find(")")
    if closes >= 0 and not 0 <= opens < closes:
        return words[:closes]
    return words[:opens] if opens > 0 and words.count("(") > words.count(")") else words


def compose(chosen: Sequence[Candidate], *, naming: bool, form: Form = Form.DETAIL) -> str:
    """Return the text of these sentences, in reading order, per document in the order of the first chosen.

    `naming` puts the title of each document above its sentences.  To a question for several things, a list that the
    best sentence is from is the answer, whole; so is one that has two of the sentences that explain.
    """
    if form in (Form.SEVERAL, Form.EXPLANATION) and (whole := _list_of(chosen[0].passage, chosen[0].number)):
        num_items = sum(one.passage is chosen[0].passage and one.number in whole[1:] for one in chosen)
        if form is Form.SEVERAL or num_items > 1:
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
    needed = {*_labelled(passage, number)}
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

    Of an item of several sentences only the first counts, and the one behind a label.  The lead is a sentence that ends
    with a colon, or the line or heading right above the first item.
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
    shown = items[: max(MAX_ITEMS, items.index(number) + 1 if number in items else 0)]
    return [lead, *(n for item in shown for n in _labelled(passage, item))]


def _labelled(passage: Passage, number: int) -> list[int]:
    """Return the number of a sentence, and that of the next one if this is the label of an item of a list."""
    words, after = _sentence(passage, number), number + 1
    is_short = is_item(words) and "," not in words and len(words.split()) <= MAX_LABEL + 1
    if after == len(passage.sentences) or not is_short:
        return [number]
    line = passage.text[passage.sentences[number].span.start : passage.sentences[after].span.start]
    return [number] if "\n" in line or _VERBS.search(tag(words, words).tags) else [number, after]


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
    is_list = any(is_item(_sentence(passage, n)) for n in written[1:])
    for number in written:
        words = _sentence(passage, number)
        mark = ITEM.match(words)
        is_listed = is_list and mark is not None
        bare = _closed(words[mark.end() :] if mark else words)
        is_short = not is_listed and not words.endswith(":") and len(words.split()) <= MAX_FRAGMENT
        is_fragment = is_short and not _VERBS.search(tag(words, words).tags)
        if is_fragment and (heading := _heading(passage)):
            bare = f"{heading}: {bare}"
        goes_on = was_item and not is_listed and number - 1 in written and not _begins_paragraph(passage, number)
        separator = "\n" if is_listed or (was_item and not goes_on) else " "
        text = f"{text}{separator if text else ''}{'- ' if is_listed else ''}{bare}"
        was_item = is_listed or goes_on
    return text


def _begins_paragraph(passage: Passage, number: int) -> bool:
    before, own = (passage.sentences[n].span.start for n in (number - 1, number))
    return "\n\n" in passage.text[before:own]


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
