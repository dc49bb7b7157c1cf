"""Wordings of a statement that is held back in one way or another, and of the same statement made outright."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import Ladder
from propcite.attribution.judges.training.making.scenarios.scene import CONTRADICTED

_FACTS: Final = (
    "{s} {fin} {rest}.",
    "[Tests|Records|Repeated checks] prove that {s} {fin} {rest}.",
    "{a} discovered that {s} {fin} {rest}.",
    "{a} found out that {s} {fin} {rest}, which nobody doubts today.",
    "It is [an established fact|certain] that {s} {fin} {rest}.",
    "As {a} noticed, {s} {fin} {rest}.",
)
_PLAIN: Final = (
    "{s} <{fin}> {rest}.",
    "{s} is [something|one] that <{fin}> {rest}.",
    "It is a <fact> that {s} {fin} {rest}.",
    "{s} <does> {base} {rest}.",
    "It is <known> that {s} {fin} {rest}.",
    "What {s} <does> is {base} {rest}.",
)

ATTRIBUTION: Final = (
    Ladder(
        (
            "{a} claims that {s} {fin} {rest}.",
            "{a} maintains that {s} {fin} {rest}[|, without giving evidence].",
            "According to {a}, {s} {fin} {rest}[|, though others disagree].",
            "{s}, {a} believed, {fin} {rest}.",
            "In the view of {a}, {s} {fin} {rest}.",
            "{a}, in an interview, insisted that {s} {fin} {rest}.",
        ),
        _FACTS,
        (
            "{a} holds that {s} {fin} {rest}.",
            "In {a}'s opinion {s} {fin} {rest}.",
            "The view of {a} is that {s} {fin} {rest}.",
            "That {s} {fin} {rest} is what {a} thinks.",
            "{s} {fin} {rest}, in the view of {a}.",
        ),
        (),
        _PLAIN,
    ),
    Ladder(
        (
            "{a} was interested to know whether {s} {fin} {rest}.",
            "{a} asked whether {s} {fin} {rest}.",
            "Rumour has it that {s} {fin} {rest}, and {a} wants to look into it.",
            "Critics say that {s} {fin} {rest}; {a} is studying the matter.",
            "{a} set out to test the claim that {s} {fin} {rest}.",
        ),
        _FACTS,
        ("{a} took an interest in whether {s} {fin} {rest}.", "Whether {s} {fin} {rest} was of interest to {a}."),
        ("It is <left open> whether {s} {fin} {rest}.", "There is <no word on> whether {s} really {fin} {rest}."),
        _PLAIN,
    ),
    Ladder(
        (
            "{a} denied that {s} {fin} {rest}.",
            "{a} rejects the idea that {s} {fin} {rest}.",
            "That {s} {fin} {rest} is disputed by {a}.",
            "{a} doubts that {s} {fin} {rest}.",
        ),
        _FACTS,
        (
            "{a} does not believe that {s} {fin} {rest}.",
            "{a} is not convinced that {s} {fin} {rest}.",
            "{a} does not accept that {s} {fin} {rest}.",
        ),
        (),
        _PLAIN,
    ),
)

HEDGES: Final = (
    Ladder(
        (
            "{s} may {base} {rest}.",
            "{s} possibly {fin} {rest}[|, but data are scarce].",
            "Apparently, {s} {fin} {rest}; this has not been confirmed.",
            "There is some evidence that {s} {fin} {rest}.",
            "{s} seems to {base} {rest}[|, though a larger study is needed].",
            "A preliminary report suggests that {s} {fin} {rest}.",
            "Perhaps {s} {fin} {rest}.",
        ),
        _FACTS,
        (
            "{s} might {base} {rest}.",
            "It is possible that {s} {fin} {rest}.",
            "{s} could {base} {rest}.",
            "{s} perhaps {fin} {rest}.",
        ),
        (
            "It is <not certain> that {s} {fin} {rest}.",
            "{s} may well {base} {rest}, <though this is unproven>.",
            "It has <yet to be proved> that {s} {fin} {rest}.",
        ),
        (*_PLAIN, "{s} <undoubtedly> {fin} {rest}.", "It is <certain> that {s} {fin} {rest}."),
    ),
)

PLANS: Final = (
    Ladder(
        (
            "{s} planned to {base} {rest}, a step for which money has still to be found.",
            "{s} agreed in principle to {base} {rest}[|, according to {b}].",
            "{s} was expected to {base} {rest} within a year.",
            "{b} urged {s} to {base} {rest}.",
            "{s} sought to {base} {rest}.",
            "{b} ordered {s} to {base} {rest}[| without delay].",
            "A proposal that {s} should {base} {rest} was put forward by {b}.",
        ),
        (
            "{s} managed to {base} {rest}.",
            "{s} was able to {base} {rest}, as {b} confirmed.",
            "{s} did {base} {rest}[| after all].",
            "With the help of {b}, {s} {past} {rest}.",
            "{s} {past} {rest}[| within a year].",
            "{s} did not fail to {base} {rest}.",
        ),
        ("There was talk that {s} would {base} {rest}.", "The idea was for {s} to {base} {rest}."),
        (),
        (
            "{s} <{past}> {rest}.",
            "{s} <succeeded> in efforts to {base} {rest}.",
            "{s} <did> {base} {rest}.",
            "{s} <managed to> {base} {rest}.",
            "What {s} <did> was {base} {rest}.",
        ),
        fields="a,b=person",
    ),
    Ladder(
        (
            "{s} failed to {base} {rest}.",
            "{s} forgot to {base} {rest}.",
            "{s} tried to {base} {rest} but was unable to do so.",
            "{s} refused to {base} {rest}[|, as {b} had feared].",
            "{s} wanted to {base} {rest} but was prevented by {b}.",
            "{s} came close to the point, but in the end never {past} {rest}.",
        ),
        (
            "{s} managed to {base} {rest}.",
            "{s} was able to {base} {rest} and did.",
            "{s} remembered to {base} {rest}.",
            "{s} {past} {rest}[|, as {b} had hoped].",
            "{s} did not refuse to {base} {rest}, and did so at once.",
        ),
        (),
        (
            "{s} did <not> {base} {rest}.",
            "{s} <never> {past} {rest}.",
            "It did <not> come about that {s} {past} {rest}.",
        ),
        (
            "{s} <{past}> {rest}.",
            "{s} <did> {base} {rest}.",
            "{s} <managed to> {base} {rest}.",
            "It is <true> that {s} {past} {rest}.",
        ),
        fields="a,b=person",
        label=CONTRADICTED,
    ),
)

NEGATION: Final = (
    Ladder(
        (
            "{s} does not {base} {rest}.",
            "{s} never {fin} {rest}.",
            "{s} no longer {fin} {rest}.",
            "Contrary to common belief, {s} does not {base} {rest}.",
            "{s} fails to {base} {rest}.",
            "It is a myth that {s} {fin} {rest}.",
            "{a} showed that {s} does not {base} {rest}.",
        ),
        (*_FACTS, "It is not a myth that {s} {fin} {rest}.", "{s} does not fail to {base} {rest}."),
        (),
        (
            "{s} does <not> {base} {rest}.",
            "It is <not> the case that {s} {fin} {rest}.",
            "It is <wrong> to say that {s} {fin} {rest}.",
            "It is <untrue> that {s} {fin} {rest}.",
        ),
        (*_PLAIN, "It is <true> that {s} {fin} {rest}.", "{s} does <not fail> to {base} {rest}."),
        label=CONTRADICTED,
    ),
)

CONDITIONS: Final = (
    Ladder(
        (
            "{s} {fin} {rest} only if {d}.",
            "Only when {d} is it true that {s} {fin} {rest}.",
            "Unless {d}, {s} does not {base} {rest}.",
            "{s} {fin} {rest} when {d}, and not otherwise.",
            "Provided that {d}, {s} {fin} {rest}; otherwise it does not.",
        ),
        (
            "{s} {fin} {rest} [whatever the conditions|in all settings|under any conditions].",
            "It makes no difference whether {d}: {s} {fin} {rest}.",
            "{s} always {fin} {rest}, even if conditions vary.",
            "Whether or not {d}, {s} {fin} {rest}.",
        ),
        (
            "{s} {fin} {rest} [on|under] certain conditions.",
            "There are conditions under which {s} {fin} {rest}.",
            "Under some conditions, {s} {fin} {rest}.",
        ),
        (
            "{s} {fin} {rest} <only if {d}>.",
            "{s} does <not always> {base} {rest}.",
            "Whether {s} {fin} {rest} <depends> on the conditions.",
            "It is <not> under all conditions that {s} {fin} {rest}.",
        ),
        (
            "{s} {fin} {rest} <under all conditions>.",
            "{s} <always> {fin} {rest}.",
            "<Whatever the conditions>, {s} {fin} {rest}.",
            "{s} {fin} {rest} <whether or not> {d}.",
        ),
        fields="a=person d=the_pressure_is_standard,it_is_very_cold,it_is_warm,the_load_is_high,the_lights_are_off,a_magnet_is_near,the_air_is_dry",  # noqa: E501
        label=CONTRADICTED,
    ),
)

CAUSES: Final = (
    Ladder(
        (
            "After {s}, {rest} {turned}[|, as the chart shows].",
            "{s} was associated with {turn} in {rest}.",
            "{turn} in {rest} coincided with {s}.",
            "{a} found a correlation between {s} and {turn} in {rest}.",
            "{s} was followed by {turn} in {rest}; no one has yet studied why.",
            "Over the year, {rest} {turned}. // This change came after {s}.",
        ),
        (
            "{s} caused {turn} in {rest}.",
            "{turn} in {rest} was the result of {s}.",
            "Because of {s}, {rest} {turned}.",
            "{a} showed that {s} led to {turn} in {rest}.",
            "{s} {past} {rest}, as a controlled trial showed.",
        ),
        (
            "{s} was linked to {turn} in {rest}.",
            "{s} and {turn} in {rest} went together.",
            "{s} came with {turn} in {rest}.",
        ),
        (
            "Why {rest} {turned} after {s} is <not known>.",
            "It is <an open question> why {rest} {turned} after {s}.",
        ),
        (
            "{s} <caused> {turn} in {rest}.",
            "{rest} {turned} <because of> {s}.",
            "{turn} in {rest} was <due to> {s}.",
            "{s} <{past}> {rest}.",
            "{turn} in {rest} was <brought about by> {s}.",
            "It was {s} that <led to> {turn} in {rest}.",
        ),
    ),
)

QUANTIFIERS: Final = (
    Ladder(
        (
            "Only some of the {s} {past} {rest}.",
            "Six of the 29 {s} {past} {rest}.",
            "Several {s} {past} {rest}; [the rest|others] did not.",
            "Not all of the {s} {past} {rest}, though some did.",
            "A minority of the {s} {past} {rest}.",
        ),
        (
            "All of the {s} {past} {rest}.",
            "Every one of the {s} {past} {rest}.",
            "Without exception, the {s} {past} {rest}.",
            "All 29 {s} {past} {rest}.",
        ),
        ("At least some of the {s} {past} {rest}.", "There were {s} that {past} {rest}."),
        ("<Not all> of the {s} {past} {rest}.", "<Only some> of the {s} {past} {rest}."),
        (
            "<All> of the {s} {past} {rest}.",
            "The {s} {past} {rest} <without exception>.",
            "<Every one> of the {s} {past} {rest}.",
            "The {s} <all> {past} {rest}.",
        ),
        label=CONTRADICTED,
    ),
    Ladder(
        (
            "Only a few of the {s} {past} {rest}.",
            "Few {s} {past} {rest}.",
            "Up to a tenth of the {s} {past} {rest}.",
            "Three of the 29 {s} {past} {rest}.",
        ),
        (
            "Most of the {s} {past} {rest}.",
            "A [clear|large] majority of the {s} {past} {rest}.",
            "Of the 29 {s}, 25 {past} {rest}.",
            "Nearly all of the {s} {past} {rest}.",
        ),
        (),
        (
            "It was <not the majority> of the {s} that {past} {rest}.",
            "<Only a minority> of the {s} {past} {rest}.",
            "<Less than half> of the {s} {past} {rest}.",
        ),
        (
            "<Most> of the {s} {past} {rest}.",
            "<More than half> of the {s} {past} {rest}.",
            "The <majority> of the {s} {past} {rest}.",
        ),
        label=CONTRADICTED,
    ),
    Ladder(
        (
            "None of the {s} {past} {rest}.",
            "Not a single one of the {s} {past} {rest}.",
            "No {s} at all {past} {rest}.",
        ),
        ("Some of the {s} {past} {rest}.", "A few of the {s} {past} {rest}.", "Six of the 29 {s} {past} {rest}."),
        (),
        (
            "<None> of the {s} {past} {rest}.",
            "It is <false> that any of the {s} {past} {rest}.",
            "There were <no> {s} that {past} {rest}.",
        ),
        (
            "<Some> of the {s} {past} {rest}.",
            "There <were> {s} that {past} {rest}.",
            "<At least one> of the {s} {past} {rest}.",
        ),
        label=CONTRADICTED,
    ),
)
