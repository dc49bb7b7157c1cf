"""Words get siblings, opposites and synonyms from WordNet's files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from parsed import parsed
from tiny_wordnet import Meaning, save_wordnet

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.making.lexicon import Lexicon
from propcite.attribution.judges.training.making.rewrites.lexical import lexical_drafts

MEANINGS = [
    Meaning(("structure",), "n"),
    Meaning(("bridge", "viaduct"), "n", wider=0),
    Meaning(("tower", "bridge"), "n", wider=0),
    Meaning(("gate",), "n", wider=0),
    Meaning(("ziggurat",), "n", wider=0, uses=0),
    Meaning(("damage",), "v"),
    Meaning(("often", "frequently"), "r", opposite=7),
    Meaning(("rarely",), "r", opposite=6),
]


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return Lexicon(save_wordnet(tmp_path_factory.mktemp("lexicon") / "wordnet", MEANINGS))


def test_siblings_are_of_the_same_kind_and_in_use(lexicon: Lexicon) -> None:
    assert lexicon.siblings("gate", "NOUN") == ("bridge", "tower", "viaduct")
    assert lexicon.siblings("bridge", "NOUN") == ("gate",)  # a tower may be a bridge, a ziggurat is not in use
    assert lexicon.siblings("structure", "NOUN") == lexicon.siblings("nothing", "NOUN") == ()
    assert lexicon.siblings("gate", "PROPN") == ()


def test_opposites_and_synonyms_are_those_of_the_main_meaning(lexicon: Lexicon) -> None:
    assert lexicon.opposites("often", "ADV") == ("rarely",)
    assert lexicon.synonyms("often", "ADV") == ("frequently",)
    assert lexicon.synonyms("bridge", "NOUN") == ()  # two meanings of like use
    assert lexicon.opposites("gate", "NOUN") == lexicon.synonyms("nothing", "NOUN") == ()


def test_a_sentence_gets_another_word_in_the_form_that_stands_there(lexicon: Lexicon) -> None:
    drafts = {d.kind: d for d in lexical_drafts(parsed("The plant often grows in sand."), lexicon, random.Random(1))}
    assert drafts["antonym"].claim == "The plant rarely grows in sand."
    assert (drafts["antonym"].label, drafts["antonym"].wrong) == ("contradicted", ((10, 16),))
    assert drafts["synonym"].claim == "The plant frequently grows in sand."
    assert (drafts["synonym"].label, drafts["synonym"].wrong) == ("supported", ())
    drafts = {d.kind: d for d in lexical_drafts(parsed("The storm destroyed the bridge."), lexicon, random.Random(1))}
    assert [(d.kind, d.claim, d.label) for d in drafts.values()] == [
        ("sibling", "The storm destroyed the gate.", "unsupported")
    ]


def test_a_folder_without_the_files_is_one_line_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match=r"nltk\.downloader wordnet") as error:
        Lexicon(tmp_path)
    assert "\n" not in str(error.value)
