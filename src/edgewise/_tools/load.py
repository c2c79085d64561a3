"""From a model file to the estimator that was saved."""

import os
from typing import Any

from .._ground.errors import ModelFormatError
from .._model import file
from .._model.saved import check_version, restored
from ..abc_logitboost import ABCLogitBoostClassifier
from ..abc_mart import ABCMARTClassifier
from ..adaboost_mh import AdaBoostMHClassifier
from ..aoso_logitboost import AOSOLogitBoostClassifier
from ..logitboost import LogitBoostClassifier
from ..mart import MARTClassifier
from ..martiboost import MartiBoostClassifier
from ..newton_boost import NewtonBoostClassifier
from ..samme import SAMMEClassifier
from ..softmax_boost import SoftmaxBoostClassifier

ALGORITHMS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        ABCLogitBoostClassifier,
        ABCMARTClassifier,
        AdaBoostMHClassifier,
        AOSOLogitBoostClassifier,
        LogitBoostClassifier,
        MARTClassifier,
        MartiBoostClassifier,
        NewtonBoostClassifier,
        SAMMEClassifier,
        SoftmaxBoostClassifier,
    )
}


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator that `save` wrote to a file.

    It predicts and, with `warm_start=True`, continues as the one that was saved, bit for bit.
    Loading runs no code of the file, and a file that is not valid raises ModelFormatError.
    """
    return from_bytes(file.read(path))


def from_bytes(data: bytes) -> Any:
    """The estimator of the bytes of a model file."""
    header, arrays = file.unpack(data)
    check_version(header)
    algorithm = header["algorithm"]
    cls = ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None
    if cls is None:
        raise ModelFormatError(
            f"Not a valid model: the algorithm must be one of {', '.join(ALGORITHMS)}. Got "
            f"{str(algorithm)[:80]!r}."
        )
    return restored(cls, header, arrays)
