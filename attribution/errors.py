"""What can go wrong while citing."""

from propcite.retrieval.errors import PropCiteError


class AttributionError(PropCiteError):
    """An answer, its passages or their stored form cannot be used as given."""


class EndpointError(AttributionError):
    """A language model's server is not there, lets nobody in or has no such model."""


class NotInAnswerError(AttributionError):
    """An answer has no fact, or a fact no citation, of that name."""
