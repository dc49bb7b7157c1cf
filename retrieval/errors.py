"""The errors that PropCite raises; each message is one line and names the next step.

PropCiteError
├── RetrievalError          an encoder or a search could not run
│   ├── EncoderError        a model is missing, damaged or does not fit
│   ├── IndexFormatError    an index is damaged, foreign or made by another encoder
│   │   └── OtherVersionError  an index has another version than the named one
│   └── StorageError        an object store does not answer, refuses access or was changed meanwhile
├── propcite.attribution.errors.AttributionError
│   ├── EndpointError       a language model's server is unreachable or refuses access
│   └── NotInAnswerError    an answer has no such fact or citation
└── propcite.app.errors.AppError
"""


class PropCiteError(Exception):
    """Base of all errors that users may cause; the command line and the page show its message without a traceback."""


class RetrievalError(PropCiteError):
    """An encoder or a search could not run."""


class EncoderError(RetrievalError):
    """A model is missing, damaged or does not fit."""


class IndexFormatError(RetrievalError):
    """An index is damaged, foreign or made by another encoder."""


class OtherVersionError(IndexFormatError):
    """An index has another version than the named one: a writer has replaced it since it was named."""


class StorageError(RetrievalError):
    """An object store does not answer, refuses access, or was changed meanwhile."""
