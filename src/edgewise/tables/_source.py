"""From a name to columns: the file, its format, or the built-in set."""

from pathlib import Path
from typing import Any

from .._ground.errors import InvalidDataError
from .._ground.wording import did_you_mean
from . import _builtin
from ._columns import dates_of, recognised
from ._csv import read_csv
from ._formats import read_arff, read_parquet, read_svmlight
from ._table import Columns, SparseRows, Table

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
}
_COMPRESSED = (".gz", ".bz2", ".zst")


def read(
    source: str | Path,
    target: str | None = None,
    *,
    format: str | None = None,
    header: bool | None = None,
    categories: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    encoding: str | None = None,
    decimal: str = ".",
) -> Table:
    """Read features and labels from a file or a built-in set.

    Parameters
    ----------
    source : str or Path
        A CSV, Parquet, ARFF or svmlight file, or the name of a built-in set.
    target : str, default=None
        Name or position of the target column, negative from the end. None takes the only column
        named target, class, label or y, else the last.
    format : {"csv", "parquet", "arff", "svmlight"}, default=None
        Format of the file. None follows the name of the file.
    header : bool, default=None
        Whether a CSV file begins with the names of its columns. None looks at the file.
    categories : tuple of str, default=()
        Columns to read as text even if they hold numbers.
    drop : tuple of str, default=()
        Columns to leave out.
    encoding : str, default=None
        Encoding of a CSV file, such as "latin-1". None is UTF-8.
    decimal : {".", ","}, default='.'
        Decimal separator of the numbers of a CSV file.

    Returns
    -------
    Table
        X, y and what was recognised.

    Examples
    --------
    >>> from edgewise.tables import read
    >>> table = read("iris")
    >>> len(table.y), len(table.columns)
    (150, 4)
    """
    columns = open_table(
        source,
        format=format,
        header=header,
        categories=categories,
        encoding=encoding,
        decimal=decimal,
    )
    return columns.labelled(target, drop)


def open_table(  # noqa: PLR0913  a parameter for each way to read a file
    source: str | Path,
    *,
    format: str | None = None,
    header: bool | None = None,
    categories: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    written: tuple[str, ...] = (),
    from_zero: bool = False,
    encoding: str | None = None,
    decimal: str = ".",
) -> Columns | SparseRows:
    """Read all columns of a file or a built-in set.

    Parameters
    ----------
    source : str or Path
        A CSV, Parquet, ARFF or svmlight file, or the name of a built-in set.
    format : {"csv", "parquet", "arff", "svmlight"}, default=None
        Format of the file. None follows the name of the file.
    header : bool, default=None
        Whether a CSV file begins with the names of its columns. None looks at the file.
    categories : tuple of str, default=()
        Columns to read as text; an unknown name is an error.
    text : tuple of str, default=()
        Columns to read as text where they exist: columns that were text in another file.
    written : tuple of str, default=()
        Columns that were text of numbers, such as "$1,234", in another file: text in them stays.
    from_zero : bool, default=False
        Whether a svmlight file counts its columns from 0, as another file did.
    encoding : str, default=None
        Encoding of a CSV file, such as "latin-1". None is UTF-8.
    decimal : {".", ","}, default='.'
        Decimal separator of the numbers of a CSV file.

    Returns
    -------
    Columns or SparseRows
        The columns.

    Examples
    --------
    >>> from edgewise.tables import open_table
    >>> open_table("iris").frame.num_rows
    150
    """
    name, path = str(source), Path(source)
    if not path.is_file():
        return _columns(name, _from_builtin(name, path), categories, text, target=_builtin.TARGET)
    kind = _format(path, format)
    if kind == "svmlight":
        X, y = read_svmlight(path)
        return SparseRows(name, X, y, from_zero or bool((X.indices == 0).any()))
    notes: list[str] = []
    if kind == "csv":
        frame, notes = read_csv(
            path,
            header=header,
            text=frozenset((*categories, *text, *written)),
            encoding=encoding,
            decimal=decimal,
        )
    else:
        frame = read_parquet(path) if kind == "parquet" else read_arff(path)
    return _columns(
        name,
        frame,
        categories,
        text,
        written=frozenset(written),
        notes=tuple(notes),
        decimal=decimal,
    )


def _columns(
    name: str,
    frame: Any,
    categories: tuple[str, ...],
    text: tuple[str, ...],
    *,
    written: frozenset[str] = frozenset(),
    **more: Any,
) -> Columns:
    if len(frame) == 0 or frame.num_columns == 0:
        raise InvalidDataError(f"{name} has no rows.")
    absent = [column for column in categories if column not in frame.column_names]
    if absent:
        raise InvalidDataError(
            f"{name} has no column {absent[0]!r} to treat as a category."
            f"{did_you_mean(absent[0], frame.column_names)}"
        )
    stays = frozenset((*categories, *text))
    plain = recognised(frame, stays, written)
    return Columns(name, plain, dates_of(frame), text=stays, **more)


def _from_builtin(name: str, path: Path) -> Any:
    if path.is_dir():
        raise InvalidDataError(f"{name} is a folder; give a file or a built-in set.")
    if not _builtin.has(name):
        known = [*_builtin.names(), *_files_beside(path)]
        raise InvalidDataError(
            f"There is no file {name!r} and no built-in set of that name."
            f"{did_you_mean(name, known)} The sets are {', '.join(_builtin.names())}."
        )
    return _builtin.load(name)


def _files_beside(path: Path) -> list[str]:
    """The tables in the folder of a file that does not exist."""
    try:
        return sorted(str(file) for file in path.parent.iterdir() if file.suffix in FORMATS)
    except OSError:
        return []


def _format(path: Path, given: str | None) -> str:
    allowed = sorted(set(FORMATS.values()))
    if given is not None:
        if given not in allowed:
            raise InvalidDataError(f"format must be one of {', '.join(allowed)}. Got {given!r}.")
        return given
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    if not suffixes or suffixes[-1] not in FORMATS:
        raise InvalidDataError(
            f"{path}: the ending does not tell the format; rename the file to one of "
            f"{', '.join(FORMATS)}, or name the format: {', '.join(allowed)}."
        )
    return FORMATS[suffixes[-1]]
