"""Examples for training the splitter: sentences with the words of their propositions, and their parses.

A row is {"sentence", "propositions": [text…]} or, if people marked words, {"sentence", "tokens", "token_indices"}.
Rows with "held_out": true are left out.  Rows of {"sentences": [text…]} teach only grammar: one sentence of each is
read.  A spaCy pipeline parses all sentences.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.attribution.english import tag
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.metrics import align, token_spans, word_spans
from propcite.attribution.propositions.parses import Parse, parse_of_tokens
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from spacy.language import Language

REPEATS = 3  # rows with marked words, and written ones, are few and exact
READ_LENGTHS = range(40, 350)  # characters of a sentence that teaches only grammar
_DETOKENIZING = (
    (re.compile(r"(?:``|'') (.+?) (?:''|``)"), r'"\1"'),
    (re.compile(r" ([,;:.!?)\]%]|(?:n't|['’](?:s|re|ve|ll|d|m))\b)"), r"\1"),
    (re.compile(r"([(\[$£€]) "), r"\1"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence with its words and the word numbers of each proposition."""

    sentence: str
    words: tuple[Span, ...]
    propositions: tuple[frozenset[int], ...]
    style: str
    facts: tuple[str, ...] = ()  # the propositions as people wrote them; empty if they marked words
    parse: Parse | None = None
    tokens: tuple[Span, ...] = ()  # those of the parse
    repeats: int = 1  # how often an epoch reads it


def read_examples(path: Path) -> list[Example]:
    """Read all rows of a JSON lines file; an error names the line of a bad row."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            if not row.get("held_out"):
                examples.append(_parse_example(row))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise AttributionError(f"{path}, line {number}: this row is invalid: {error!r}") from error
    return [e for e in examples if e.words and (e.propositions or e.style == "grammar")]


def with_parses(examples: Sequence[Example], parser: Language, advance: Callable[[], None]) -> Iterator[Example]:
    """Yield the examples with the parses of their sentences."""
    docs = parser.pipe((e.sentence for e in examples), disable=["ner", "lemmatizer"])
    for example, doc in zip(examples, docs, strict=True):
        parsed = [
            (token.idx, token.idx + len(token), token.tag_, token.head.i, token.dep_ if token.dep_ else "-")
            for token in doc
        ]
        places = tag(example.sentence, example.sentence).places
        yield replace(example, parse=parse_of_tokens(places, parsed), tokens=tuple(Span(*place) for place in places))
        advance()


def write_parsed(path: Path, examples: Sequence[Example]) -> None:
    """Write examples with their parses as gzipped JSON lines, which `read_examples` reads without a pipeline."""
    with atomic_write(path, AttributionError) as new, gzip.open(new, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(_parsed_row(example), ensure_ascii=False) + "\n" for example in examples)


def _parsed_row(example: Example) -> dict[str, Any]:
    row: dict[str, Any] = {"sentence": example.sentence, "style": example.style, "repeats": example.repeats}
    row["word_sets"] = [sorted(words) for words in example.propositions]
    row["facts"] = list(example.facts)
    if example.parse:
        ends = [0, *(token.end for token in example.tokens)]
        row["gaps"] = [token.start - end for token, end in zip(example.tokens, ends, strict=False)]
        row["lengths"] = [token.end - token.start for token in example.tokens]
        row["tags"], row["relations"] = " ".join(example.parse.tags), " ".join(example.parse.relations)
        row["heads"] = [head - number for number, head in enumerate(example.parse.heads)]
    return row


def _of_parsed(row: dict[str, Any]) -> Example:
    sentence = row["sentence"]
    sets = tuple(frozenset(words) for words in row["word_sets"])
    example = Example(
        sentence, tuple(word_spans(sentence)), sets, row["style"], tuple(row["facts"]), repeats=row["repeats"]
    )
    if "tags" not in row:
        return example
    heads = tuple(number + offset for number, offset in enumerate(row["heads"]))
    parse = Parse(tuple(row["tags"].split()), heads, tuple(row["relations"].split()))
    steps = zip(row["gaps"], row["lengths"], strict=True)
    ends = list(accumulate(gap + length for gap, length in steps))
    tokens = tuple(Span(end - length, end) for end, length in zip(ends, row["lengths"], strict=True))
    return replace(example, parse=parse, tokens=tokens)


def _parse_example(row: dict[str, Any]) -> Example:
    if "word_sets" in row:
        return _of_parsed(row)
    if "sentences" in row and "propositions" not in row:
        return _grammar_example([str(text) for text in row["sentences"]])
    row = _detokenize_row(row) if str(row.get("style", "")).startswith("split") else row
    sentence = str(row["sentence"])
    words = word_spans(sentence)
    if "token_indices" in row:
        tokens = token_spans(sentence, row["tokens"])
        sets = [_words_of([tokens[i] for i in indices], words) for indices in row["token_indices"]]
        style = "span"
    else:
        sets = [frozenset(align(text, sentence)) for text in row["propositions"]]
        style = "clause" if "split" in str(row.get("style", "")) else "atomic"
    facts = tuple(row["propositions"]) if style != "span" else ()
    repeats = REPEATS if style == "span" or row.get("source") == "written" else 1
    return Example(sentence, tuple(words), tuple(dict.fromkeys(s for s in sets if s)), style, facts, repeats=repeats)


def _grammar_example(sentences: Sequence[str]) -> Example:
    """Make an example of the row's sentence that its digest draws."""
    fitting = [text for text in sentences if len(text) in READ_LENGTHS and text[0].isupper() and text[-1] in ".!?"]
    drawn = min(fitting, key=lambda text: hashlib.sha256(text.encode()).digest(), default="")
    return Example(drawn, tuple(word_spans(drawn)), (), "grammar")


@cache
def whole_fact(text: str) -> Example:
    """Make an example of a fact that must not be split."""
    words = tuple(word_spans(text))
    return Example(text, words, (frozenset(range(len(words))),) if words else (), "atomic")


def _detokenize_row(row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        "sentence": _detokenize(str(row["sentence"])),
        "propositions": [_detokenize(p) for p in row["propositions"]],
    }


def _detokenize(text: str) -> str:
    """Remove the spaces around punctuation that a tokenized data set has.

    >>> _detokenize("Ada , the poet 's daughter ( 1815 - 1852 ) , wrote `` Notes '' .")
    'Ada, the poet\\'s daughter (1815 - 1852), wrote "Notes".'
    """
    for wrong, right in _DETOKENIZING:
        text = wrong.sub(right, text)
    return text


def _words_of(tokens: Sequence[Span], words: Sequence[Span]) -> frozenset[int]:
    return frozenset(i for i, word in enumerate(words) if any(word.overlaps(token) for token in tokens))


def is_held_out(sentence: str) -> bool:
    """Return whether a sentence belongs to the quarter that is held out for evaluation: the same in every run."""
    return hashlib.sha256(sentence.encode()).digest()[0] % 4 == 0
