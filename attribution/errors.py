"""Errors of citing."""

from propcite.retrieval.errors import PropCiteError


class AttributionError(PropCiteError):
    """An answer, its passages or their stored form cannot be used."""


class EndpointError(AttributionError):
    """A language model's server cannot be reached, refuses access or does not have the model."""


class NotInAnswerError(AttributionError):
    """An answer has no such fact, or a fact no such citation."""
