"""What the tools take.  The descriptions are written for the language model that calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from propcite.app.server.errors import RequestError
from propcite.app.server.problems import one_line
from propcite.app.server.schemas import MAX_TEXT, Name, NonBlankText, Text

MAX_NAMED = 10  # of arguments or collections in an error
COLLECTION = "Name of the collection to search. Leave it out for the server's default collection."

Collection = Annotated[Name | Literal[""], Field(description=COLLECTION)]
Level = Literal["passage", "sentence", "proposition"]


class Arguments(BaseModel):
    """Base of arguments: an unknown one is an error, and null is the same as one left out."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        return {k: v for k, v in values.items() if v is not None} if isinstance(values, dict) else values


class Selection(Arguments):
    """A collection, or some of its documents."""

    collection: Collection = ""
    documents: list[Text] = Field([], max_length=100, description="Only these documents, by id, source or file name.")
    where: list[Text] = Field(
        [], max_length=20, description="Only documents that meet all conditions, such as kind=pdf or date>=2024-05."
    )


class SearchArguments(Selection):
    query: NonBlankText = Field(
        max_length=MAX_TEXT,
        description="What to look for: a question, a claim or key words. Every hit has the words in double quotes.",
        examples=["barrier cost"],
    )
    granularity: Level = Field("sentence", description="What is ranked. Each hit has its passage as context.")
    k: int = Field(8, ge=1, le=50, description="How many hits to return.")


class PassageArgument(Arguments):
    text: NonBlankText
    id: Text = ""
    title: Text = ""


class TextArguments(Arguments):
    """A text, and what it is checked against: a collection, given passages, or the passages first."""

    text: NonBlankText = Field(description="The whole text, as prose with its own sentences; markers such as [1] too.")
    collection: Collection = ""
    passages: list[PassageArgument] = Field(
        [],
        max_length=1000,
        description="Check against these passages, such as what another tool returned, and not against a collection; "
        "with a collection named too, these come first.",
    )
    question: Text = Field("", max_length=MAX_TEXT, description="The question that the text answers, if there is one.")


class CiteArguments(TextArguments):
    keep: bool = Field(
        False,
        description="Store the cited text in the collection, so that people can open it and `explain` can read it.",
    )


class AskArguments(Selection):
    question: NonBlankText = Field(max_length=MAX_TEXT, description="One question, in full words.")
    after: Text = Field("", max_length=100, description="The id of the answer that this question follows.")


class EvidenceArguments(Arguments):
    claim: Text = Field("", max_length=MAX_TEXT, description="One statement to find evidence for and against.")
    answer: Text = Field("", max_length=100, description="Instead of a claim: the id of a kept answer.")
    fact: int = Field(1, ge=1, description="Which fact of the claim or answer, counted from 1.")
    collection: Collection = ""
    granularity: Level = Field("sentence", description="What is ranked and judged.")
    k: int = Field(8, ge=1, le=50, description="How many pieces of evidence to return.")


class ExplainArguments(Arguments):
    claim: Text = Field("", max_length=MAX_TEXT, description="One statement, cited over the collection first.")
    answer: Text = Field("", max_length=100, description="Instead of a claim: the id of a kept answer.")
    fact: int = Field(1, ge=1, description="Which fact, counted from 1.")
    citation: int = Field(0, ge=0, description="The marker of one citation; 0: the first, or the nearest evidence.")
    collection: Collection = ""


def read_arguments(kind: type[Arguments], given: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; RequestError names the first that is wrong in one line."""
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    name = ".".join(map(str, first["loc"]))[:100]
    if first["type"] == "extra_forbidden":
        known = ", ".join(kind.model_fields)
        raise RequestError(422, f"there is no argument {one_line(name)!r}: this tool takes {known}")
    if first["type"] == "missing":
        raise RequestError(422, f"the argument {name} is missing: give it")
    why = one_line(str(first["msg"]).removeprefix("Value error, "))[:300]
    raise RequestError(422, f"the argument {one_line(name)} cannot be read: {why}" if name else why)
