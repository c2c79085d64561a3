"""The hierarchy of errors and warnings:

EdgewiseError
├── InvalidParameterError   a constructor parameter has a value that is not allowed   (ValueError)
├── InvalidDataError        X, y or weights cannot be learned from or predicted for    (ValueError)
└── ModelFormatError        a model cannot be read from, or written to, a model file   (ValueError)

A message says what was wrong, what is allowed, and what the value was.
"""


class EdgewiseError(Exception):
    """Base of all errors raised by edgewise."""


class InvalidParameterError(EdgewiseError, ValueError):
    """A constructor parameter has a value that is not allowed."""


class InvalidDataError(EdgewiseError, ValueError):
    """X, y or the weights cannot be used."""


class ModelFormatError(EdgewiseError, ValueError):
    """A file is not a valid model file, or a model cannot be stored in one."""


class CostWarning(UserWarning):
    """A correct label costs more than a mistake: rows and columns may be swapped."""


class FitWarning(UserWarning):
    """A fit ended with a problem: it learned nothing, or could not estimate its error."""
