"""What can go wrong while citing."""

from retrieval.errors import PropCiteError


class AttributionError(PropCiteError):
    """An answer, its passages or their stored form cannot be used as given."""
