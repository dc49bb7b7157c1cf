"""The functions that read text of strangers, and texts that are hard for the patterns they are made of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from propcite.app.answering.generators.repetition import without_repetition
from propcite.app.answering.generators.unwrapping import what_it_is
from propcite.app.errors import AppError
from propcite.app.ingest.near_duplicates import signature
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.library.conditions import parse_condition
from propcite.app.library.conditions.dates import parse_date
from propcite.attribution import english
from propcite.attribution.citing.splitting import contexts_of
from propcite.attribution.english.questions.topics import dates, topics
from propcite.attribution.english.words import (
    denial_in_other_words,
    negation_differs,
    opposed_words,
    other_unit,
)
from propcite.attribution.formats.text import one_line, printable
from propcite.attribution.propositions.alignment import propositions_from_texts
from propcite.attribution.propositions.check_worthiness import needs_citation
from propcite.attribution.propositions.metrics import align, word_spans
from propcite.attribution.propositions.nearest_clause import nearest_clause
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.attribution.propositions.sentence import without_markup
from propcite.attribution.prose.marker_stripper import MarkerStripper, remove_markers
from propcite.attribution.prose.markers import extract_markers
from propcite.attribution.prose.sentences import SentenceStream, prose_spans, sentences_of
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document

CLAIM = "On 3 May 2024 the 12 gates were not raised by 6.4 metres, and it cost $5 million."


def _clauses(text: str) -> None:
    tagged = english.tag(text, text)
    for fact in english.facts(tagged):
        english.frame(tagged, fact)


def _in_pieces(text: str, size: int = 7) -> None:
    sentences, stripper = SentenceStream(), MarkerStripper()
    for at in range(0, len(text), size):
        list(sentences.feed(stripper.feed(text[at : at + size])))
    list(sentences.feed(stripper.finish()))
    list(sentences.finish())


def _answer(text: str) -> None:
    """What an answer goes through before a model sees it."""
    sentences = [span.of(text) for span in sentences_of(text)]
    RuleSplitter().split_many([extract_markers(sentence).text for sentence in sentences], contexts_of(sentences))


def _reader(name: str) -> Callable[[str], object]:
    def read(text: str) -> None:
        with suppress(AppError):  # one line, which is as good as a document here
            document_from_bytes(name, text.encode(), name)

    return read


def _condition(text: str) -> None:
    with suppress(AppError):
        parse_condition(text)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "split_sentences": split_sentences,
    "sentences_of": sentences_of,
    "sentences in pieces": _in_pieces,
    "prose_spans": lambda text: list(prose_spans(text)),
    "extract_markers": extract_markers,
    "remove_markers": remove_markers,
    "an answer, by rules": _answer,
    "passages": lambda text: PassageSplitter().split(Document("1", "", text)),
    "RuleSplitter": RuleSplitter().split,
    "tag, facts, frame": _clauses,
    "without_markup": without_markup,
    "needs_citation": needs_citation,
    "nearest_clause": lambda text: nearest_clause(text, text),
    "propositions_from_texts": lambda text: propositions_from_texts(text, [text]),
    "word_spans": word_spans,
    "align": lambda text: align(text, text),
    "content_words": english.content_words,
    "numbers": english.numbers,
    "missing_numbers": lambda text: english.missing_numbers(text, text),
    "missing_numbers of a claim": lambda text: english.missing_numbers(CLAIM, text),
    "underived_numbers": lambda text: english.underived_numbers(text, CLAIM),
    "underived_numbers of a claim": lambda text: english.underived_numbers(CLAIM, text),
    "plain_share": lambda text: english.plain_share(text, text),
    "stands_in": lambda text: english.stands_in(text, text),
    "other_unit": lambda text: other_unit(text, text),
    "negation_differs": lambda text: negation_differs(text, text),
    "negation_differs of a claim": lambda text: negation_differs(CLAIM, text),
    "opposed_words": lambda text: opposed_words(text, CLAIM, share=0.6),
    "opposed_words of a claim": lambda text: opposed_words(CLAIM, text, share=0.6),
    "denial_in_other_words": lambda text: denial_in_other_words(text, text, share=0.6),
    "contradiction": lambda text: english.contradiction(text, text, 1.0, text),
    "contradiction of a claim": lambda text: english.contradiction(CLAIM, text, 1.0),
    "difference": lambda text: english.difference(text, text, text),
    "difference from a claim": lambda text: english.difference(CLAIM, text),
    "with_antecedent": lambda text: english.with_antecedent(text, [text]),
    "with_antecedent of a claim": lambda text: english.with_antecedent("It was raised.", [text]),
    "inserted_spans": english.inserted_spans,
    "without_brackets": english.without_brackets,
    "standalone_question": lambda text: english.standalone_question(text, [english.Exchange(text, text)]),
    "question_parts": english.question_parts,
    "is_question": english.is_question,
    "topics": topics,
    "dates": dates,
    "language_of": english.language_of,
    "without_repetition": without_repetition,
    "what_it_is": what_it_is,
    "signature": signature,
    "one_line": one_line,
    "printable": printable,
    "parse_condition": _condition,
    "parse_date": parse_date,
    "text file": _reader("a.txt"),
    "Markdown": _reader("a.md"),
    "HTML": _reader("a.html"),
    "RTF": lambda text: _reader("a.rtf")(r"{\rtf1 " + text + "}"),
    "CSV": _reader("a.csv"),
    "TSV": _reader("a.tsv"),
    "JSON": _reader("a.json"),
    "JSON lines": _reader("a.jsonl"),
    "mail": _reader("a.eml"),
    "mailbox": _reader("a.mbox"),
}

UNITS = (
    *("A.B.", "A. ", "a.", ". ", ".", "?", "? ", "?!", "Dr. ", "1.", "1. ", "e.g. ", "U.S. "),
    *(
        "[",
        "(",
        ")",
        "[1",
        "[1]",
        "[1, ",
        "]",
        "{",
        "((",
        "([",
        "【1",
        "<",
        "<p",
        "<sup>",
        "<div>",
        "</p>",
        "<!--",
        "&amp",
        "[^1]",
        "[^1]: a\n",
        "<table><tr><th>a<tr><td><ul><li>b",
        "\\cell ",
        "\\par ",
        "{\\footnote a}",
        "\\pard\\intbl a\\cell\\row ",
    ),
    *('"', "'", "’", "`", "``", "```\n", "“", "*", "**", "*a", "_", "__", "#", "# ", "~", "|", "| ", "\\", "\\a"),
    *("and ", "and, ", "or ", "not ", "no ", "of ", "that ", "which ", ", ", ",", "; ", ";", ":", "—", " - ", "-", "/"),
    *("a", "A", "é", "1", "1,", "1.0 ", "1-", "1 ", "12:30 ", "$1 ", "%", "§", "one ", "twenty-", "million ", "3 m "),
    *(
        " ",
        "\t",
        "\n",
        "\n\n",
        " \n",
        "\r",
        "\x0b",
        "\u2028",
        "\u00a0",
        "a ",
        "A b ",
        "Ada ",
        "the ",
        "it ",
        "he said ",
    ),
    *("a-", "a'", "a/", "a.b-", "is ", "was ", "who ", "May 3, ", "- a\n", "1. a\n", "> ", "a\n", "a,b\n", "a\tb\n"),
    *("A\n\n", "1. A\n\n", "a\n=\n", "Who is it?\n\nHe is.\n\n"),
    *("{}", "{\\b ", "\\'e4", "[](", "![", "](", "a@b.c ", "=?", "=\n", "From ", "From a\n", "\ue200", "<|", "<|file-"),
    *(
        "。",
        "字",
        "字。",
        "é.",
        "\U0001f600",
        "́",
        "not only ",
        "Who and ",
        "so that ",
        "x=",
        "(a=1 and ",
        "not (",
        "in (",
    ),
)


def hard_texts(size: int) -> dict[str, str]:
    """Return texts of about `size` characters, by what they repeat; each with an ordinary sentence around it too."""
    texts = {}
    for unit in UNITS:
        run = unit * (size // len(unit))
        texts[repr(unit)] = run
        texts[f"within {unit!r}"] = f"Ada wrote it in 1843, {run} and it was read."
    return texts
