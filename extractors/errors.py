"""Every error of `extractors`, in one tree.

ExtractionError
├── MethodUnsupported         the model cannot follow the method
│   └── OpenModeUnsupported   the model cannot name relations in its own words
├── GazetteerError            a file of places cannot be used
├── CalibrationError          scores and judgments, or a calibration file, cannot be used
├── SourceError               a file of source records, or its mapping, that cannot be used
├── TrainingDataError         what an adapter is to be trained on cannot be used
├── EvaluationError           a benchmark's files, or the folder of a run, cannot be used
└── ModelError                the language model did not give a usable reply
    ├── ModelUnavailable      down, refusing connections, or its weights are not installed
    ├── ModelTimeout          it did not answer in the time allowed
    ├── ModelReplyError       it answered, but the reply is broken, truncated or empty
    └── ModelRequestRefused   it refused the request itself (HTTP 4xx): asking again will not help
"""

from __future__ import annotations

from pathlib import Path


class ExtractionError(Exception):
    """Something kept text from becoming candidates; the message says what to do about it."""


class MethodUnsupported(ExtractionError):
    """The model is known not to follow a method; the message says why, and which model could."""


class OpenModeUnsupported(MethodUnsupported):
    """The embedded model was trained to answer for the relations of an ontology, and names none by itself."""


class GazetteerError(ExtractionError):
    """A gazetteer file cannot be used; the message names the file and the place in it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"The gazetteer {path}: {reason}. Fix it, or change the setting gazetteers.")


class CalibrationError(ExtractionError):
    """Scores and judgments that nothing can be fitted to, or a file that is no calibration."""


class SourceError(ExtractionError):
    """A file of source records, or the mapping that reads it, cannot be used; the message says where."""


class TrainingDataError(ExtractionError):
    """A file of training data, or what a teacher said, cannot be used; the message says where and why."""


class EvaluationError(ExtractionError):
    """A benchmark's file is not what it should be, or the folder of a run belongs to another run."""


class ModelError(ExtractionError):
    """The language model did not give a usable reply, in so many `attempts`."""

    attempts: int = 1


class ModelUnavailable(ModelError):
    """No model can be reached: the server is down or overloaded, or the weights are not installed."""

    def __init__(self, message: str, *, overloaded: bool = False) -> None:
        super().__init__(message)
        self.overloaded = overloaded


class ModelTimeout(ModelError):
    """The model did not answer in the time allowed."""


class ModelReplyError(ModelError):
    """The model answered with something unusable: not JSON, cut off, or empty.

    `reply` holds its words as they came, for the trace and the review queue. The tokens were spent all the
    same; they are 0 where nobody counted them.
    """

    def __init__(
        self, message: str, reply: str, *, prompt_tokens: int = 0, completion_tokens: int = 0
    ) -> None:
        super().__init__(message)
        self.reply = reply
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens


class ModelRequestRefused(ModelError):
    """The server refused the request (422 and its like); the same request will be refused again.

    `status` is the HTTP status, or None for an embedded model. `too_long`: the prompt does not fit the model.
    """

    def __init__(self, message: str, status: int | None = None, *, too_long: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.too_long = too_long
