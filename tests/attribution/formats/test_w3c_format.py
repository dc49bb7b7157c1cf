"""Web Annotations: exact selectors, and a verdict for each fact."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from sample_answers import ANSWER, answers

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats import FORMATS


def read(answer: CitedAnswer, name: str = "w3c") -> Any:
    return json.loads(FORMATS[name].write(answer))


@given(answers())
def test_every_selector_selects_its_words(answer: CitedAnswer) -> None:
    collection = read(answer)
    assert collection["total"] == len(collection["first"]["items"]) == len(answer.propositions)
    shown = read(answer, "json")["text"]
    for item in collection["first"]["items"]:
        for target in item["target"]:
            quote, place = target["selector"]
            assert shown[place["start"] : place["end"]] == quote["exact"]
            around = shown[max(0, place["start"] - 32) : place["start"]], shown[place["end"] : place["end"] + 32]
            assert (quote["prefix"], quote["suffix"]) == around


def test_an_annotation_has_the_verdict_and_the_quotes() -> None:
    collection = read(ANSWER)
    assert collection["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert (collection["type"], collection["first"]["type"]) == ("AnnotationCollection", "AnnotationPage")
    price, see = collection["first"]["items"][1:3]
    assert [t["selector"][0]["exact"] for t in price["target"]] == ["The gates", "cost 5 million"]
    assert [b.get("value") for b in price["body"]] == ["The gates cost 5 million", "supported, 0.90", None, None]
    assert [b["source"]["id"] for b in price["body"][2:]] == ["urn:propcite:document:d2", "urn:propcite:document:d1"]
    quote, place = price["body"][3]["selector"]
    assert (quote["exact"], quote["prefix"][-4:], quote["suffix"]) == ("They close.", " 😀. ", "")
    assert (place["start"], place["end"]) == (137, 148)  # the passage begins at 100
    assert [b["purpose"] for b in see["body"]] == ["describing", "assessing", "commenting", "commenting"]
    assert see["body"][1]["value"] == "contradicted, 0.20"
