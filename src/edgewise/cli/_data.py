"""Tables for the commands: reading, and a few lines on what was recognised."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..tables import Columns, SparseRows, Table, open_table

_CLASSES_SHOWN = 12


class Reading(NamedTuple):
    """The options of how a table is read."""

    format: str | None = None
    header: bool | None = None
    category: Sequence[str] | None = None
    drop: Sequence[str] | None = None

    def open(self, source: str, **more: Any) -> Columns | SparseRows:
        return open_table(source, format=self.format, header=self.header, **more)

    def labelled(self, source: str, target: str | None) -> Table:
        opened = self.open(source, categories=tuple(self.category or ()))
        return opened.labelled(target, tuple(self.drop or ()))

    def alike(self, source: str, train: Table) -> tuple[Any, Any]:
        """X and y of another file, with the columns of the first and the same kinds of them."""
        n_features = int(train.X.shape[1])
        if not train.columns:
            rows = self.open(source, from_zero=train.from_zero)
            return rows.features(None, n_features), rows.labelled(None).y
        names = [column.name for column in train.columns]
        text = [column.name for column in train.columns if column.kind == "category"]
        text += [train.target] if train.y.dtype.kind == "U" else []
        opened = self.open(source, text=tuple(text))
        labels = opened.labelled(train.target, but=tuple(names)).y
        return opened.features(names, n_features), labels

    def words(self) -> list[str]:
        """The options as they would be typed."""
        words = [] if self.format is None else ["--format", self.format]
        if self.header is not None:
            words.append("--header" if self.header else "--no-header")
        for name, values in (("--category", self.category), ("--drop", self.drop)):
            words += [word for value in values or () for word in (name, value)]
        return words


def described(table: Table) -> list[str]:
    """What was recognised, in a few lines."""
    facts = table.summary()
    kinds = [
        f"{facts[kind]} {kind if facts[kind] != 1 else _ONE[kind]}"
        for kind in ("numbers", "categories", "dates")
        if facts[kind]
    ]
    lines = [
        f"{facts['name']}: {facts['rows']} rows, {facts['features']} features "
        f"({', '.join(kinds)}{', sparse' if facts['sparse'] else ''}), "
        f"{len(facts['classes'])} classes",
        f"target {facts['target']!r}: {_counts(facts['classes'])}",
    ]
    if facts["missing"]:
        lines.append(
            f"missing: {facts['missing']} values, in {facts['columns_with_missing']} of the "
            f"{facts['features']} features"
        )
    return [*lines, *(f"note: {note}" for note in facts["notes"])]


_ONE = {"numbers": "number", "categories": "category", "dates": "date"}


def _counts(classes: dict[str, int]) -> str:
    shown = [f"{label} ({count})" for label, count in list(classes.items())[:_CLASSES_SHOWN]]
    return ", ".join(shown) + (", ..." if len(classes) > _CLASSES_SHOWN else "")
