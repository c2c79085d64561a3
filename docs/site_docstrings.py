"""The reference shows the docstrings of estimators as the package completes them on import."""

import inspect
import re
from typing import Any

import griffe

import edgewise

# The parser takes the first of {"a", "b"} for the default, whatever default= says.
_CHOICES = re.compile(r"^(\s*\w+ : )\{([^}]*)\}", re.MULTILINE)
# A type that is also an expression of Python, such as array-like, would be shown as "array - like",
# and strings without quotes. A word joiner, which is invisible, makes it plain text.
_TYPE = re.compile(r"^(\s*\w+ : )(?=\S)", re.MULTILINE)


class Completed(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is None:
            return
        if obj.is_class and obj.name in edgewise.__all__:
            obj.docstring.value = inspect.getdoc(getattr(edgewise, obj.name)) or ""
        obj.docstring.value = _CHOICES.sub(
            lambda found: found[1] + " or ".join(found[2].split(", ")), obj.docstring.value
        )
        obj.docstring.value = _TYPE.sub("\\1\u2060", obj.docstring.value)
