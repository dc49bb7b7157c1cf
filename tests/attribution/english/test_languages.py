"""Detecting languages, and the note on an answer in another language than its sources."""

from __future__ import annotations

import pytest

from propcite.attribution.citing.sources import as_passages
from propcite.attribution.english import language_of, other_language
from propcite.attribution.events import AnswerDone
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder

SENTENCES = {
    "English": "The museum opened in 1987.",
    "German": "Das Museum wurde 1987 eröffnet.",
    "French": "Le musée a ouvert en 1987 et la barrière a coûté 410 millions d'euros.",
    "Spanish": "El museo abrió en 1987.",
    "Italian": "Il museo ha aperto nel 1987.",
    "Portuguese": "O museu abriu em 1987.",
    "Dutch": "Het museum werd in 1987 geopend.",
    "Swedish": "Barriären kostade 410 miljoner euro och det är mycket.",
    "Polish": "Muzeum zostało otwarte w 1987 roku i jest duże.",
    "Chinese": "博物馆于1987年开放。",
    "Japanese": "博物館は1987年に開館した。",
    "Korean": "박물관은 1987년에 문을 열었다.",
    "a language in Cyrillic letters": "Музей открылся в 1987 году.",
    "a language in Arabic letters": "افتتح المتحف عام 1987.",
    "Hebrew": "המוזיאון נפתח בשנת 1987.",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_a_sentence_is_enough(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text", ["", "x", "1987", "It rained.", "Museum opened 1987", "The Musée de la Mer was opened by Ana de la Cruz."]
)
def test_unclear_languages_are_not_guessed(text: str) -> None:
    assert language_of(text) in ("", "English")


def test_the_note_requires_that_all_sources_are_in_other_languages() -> None:
    english, german, dutch = SENTENCES["English"], SENTENCES["German"], SENTENCES["Dutch"]
    note = "the answer is in German and its sources are in English: unsupported facts may only be worded differently"
    assert other_language(german, [english, english]) == note
    assert "are in Dutch and English:" in other_language(german, [english, dutch])
    assert other_language(german, [english, german]) == ""
    assert other_language(german, ["410", "1987"]) == other_language(german, []) == ""
    assert other_language("Ja.", [english]) == ""


def test_every_method_adds_the_note_to_the_answer(encoder: Encoder) -> None:
    propcite, passages = PropCite(encoder), as_passages([SENTENCES["English"]])
    *_, done = propcite.stream(list(SENTENCES["German"]), passages)
    assert isinstance(done, AnswerDone)
    whole = propcite.cite(SENTENCES["German"], passages)
    assert len(whole.notes) == 1
    assert "in German" in whole.notes[0]
    assert done.answer.notes == whole.notes
    assert propcite.repair(SENTENCES["German"] + " [1]", passages).answer.notes == whole.notes
    assert propcite.cite(SENTENCES["German"], [SENTENCES["German"]]).notes == ()
    assert propcite.cite("The museum opened in 1990.", passages).notes == ()
