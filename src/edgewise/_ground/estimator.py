"""Constructors of estimators, written from the parameters that their classes declare.

A class states the parameters that it adds or changes, with their defaults:

    @estimator
    class AOSOLogitBoostClassifier(LogisticBooster):
        leaf: LeafKind = "pair"

The constructor takes these by keyword, followed by those of the base classes. scikit-learn reads
them from its signature; type checkers and editors understand the declarations
(``typing.dataclass_transform``). Attributes that are not parameters are annotated as ``ClassVar``
or not at all.
"""

from collections.abc import Mapping
from inspect import Parameter, Signature, get_annotations, signature
from typing import Any, ClassVar, TypeVar, dataclass_transform, get_origin

from .documented import documented
from .wording import hinting, no_parameter

Class = TypeVar("Class", bound=type)

ESTIMATORS: dict[str, type[Any]] = {}  # by name of the class


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: Class) -> Class:
    """Give a class its constructor and the descriptions of its parameters, and list it.

    A class that writes its own constructor keeps it.
    """
    ESTIMATORS[cls.__name__] = cls
    return documented(hinting(cls) if "__init__" in vars(cls) else with_parameters(cls))


@dataclass_transform(kw_only_default=True, eq_default=False)
def with_parameters(cls: Class) -> Class:
    """Give a class the constructor of its own parameters and those of its base classes."""
    inherited = signature(cls.__init__).parameters  # type: ignore[misc]
    known = _own_parameters(cls)
    for name, parameter in inherited.items():
        if parameter.kind is Parameter.KEYWORD_ONLY:
            known.setdefault(name, parameter)
    cls.__init__ = _constructor(cls, known)  # type: ignore[misc]
    return cls


def _own_parameters(cls: type) -> dict[str, Parameter]:
    """Take the parameters out of the body of a class: only estimators have values."""
    own = {}
    for name, kind in get_annotations(cls).items():
        outer: Any = get_origin(kind)
        if name in vars(cls) and outer is not ClassVar:
            default = vars(cls)[name]
            own[name] = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            delattr(cls, name)
    return own


def _constructor(cls: type, known: Mapping[str, Parameter]) -> Any:
    def __init__(self: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                raise TypeError(no_parameter(cls, name, known))
        for name, parameter in known.items():
            setattr(self, name, given.get(name, parameter.default))

    of_instance = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    constructor: Any = __init__
    constructor.__signature__ = Signature([of_instance, *known.values()], return_annotation=None)
    constructor.__module__ = cls.__module__
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor
