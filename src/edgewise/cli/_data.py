"""Tables for the commands: reading them, and a description in a few lines."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._ground.wording import counted
from .._tools.findings import data_findings
from ..tables import Columns, SparseRows, Table, open_table

_CLASSES_SHOWN = 12


class Reading(NamedTuple):
    """Options for reading a table."""

    format: str | None = None
    header: bool | None = None
    category: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    encoding: str | None = None
    decimal: str | None = None

    def open(self, source: str, **more: Any) -> Columns | SparseRows:
        return open_table(
            source,
            format=self.format,
            header=self.header,
            encoding=self.encoding,
            decimal=self.decimal or ".",
            **more,
        )

    def labelled(self, source: str, target: str | None) -> Table:
        opened = self.open(source, categories=tuple(self.category or ()))
        return opened.labelled(target, self._dropped(opened))

    def _dropped(self, opened: Columns | SparseRows) -> tuple[str, ...]:
        """Names to leave out, separated by commas unless a column name contains the comma."""
        known = opened.frame.column_names if isinstance(opened, Columns) else []
        return tuple(
            name
            for given in self.drop or ()
            for name in ([given] if given in known else map(str.strip, given.split(",")))
        )

    def alike(self, source: str, train: Table) -> tuple[Any, Any]:
        """Read X and y of another file with the columns of the first, and their kinds."""
        n_features = int(train.X.shape[1])
        if not train.columns:
            rows = self.open(source, from_zero=train.from_zero)
            return rows.features(None, n_features), rows.labelled(None).y
        names = [column.name for column in train.columns]
        text = [column.name for column in train.columns if column.kind == "category"]
        text += [train.target] if train.y.dtype.kind == "U" else []
        opened = self.open(source, text=tuple(text), written=tuple(train.notations))
        labels = opened.labelled(train.target, but=tuple(names)).y
        return opened.features(names, n_features, train.notations), labels

    def words(self) -> list[str]:
        """Return the options as a user would type them."""
        words = [] if self.format is None else ["--format", self.format]
        if self.header is not None:
            words.append("--header" if self.header else "--no-header")
        for name, value in (("--encoding", self.encoding), ("--decimal", self.decimal)):
            words += [] if value is None else [name, value]
        for name, values in (("--category", self.category), ("--drop", self.drop)):
            words += [word for value in values or () for word in (name, value)]
        return words


def described(table: Table) -> list[str]:
    """Return a description of the table in a few lines."""
    facts = table.summary()
    kinds = [
        f"{facts[kind]} {kind if facts[kind] != 1 else _ONE[kind]}"
        for kind in ("numbers", "categories", "dates")
        if facts[kind]
    ]
    lines = [
        f"{facts['name']}: {counted(facts['rows'], 'row')}, "
        f"{counted(facts['features'], 'feature')} "
        f"({', '.join(kinds)}{', sparse' if facts['sparse'] else ''}), "
        f"{counted(len(facts['classes']), 'class', 'classes')}",
        f"target {facts['target']!r}: {_counts(facts['classes'])}",
    ]
    if facts["missing"]:
        lines.append(
            f"missing: {counted(facts['missing'], 'value')}, in {facts['columns_with_missing']} of "
            f"the {facts['features']} features"
        )
    return [*lines, *(f"note: {note}" for note in facts["notes"])]


_ONE = {"numbers": "number", "categories": "category", "dates": "date"}


def _counts(classes: dict[str, int]) -> str:
    shown = [f"{label} ({count})" for label, count in list(classes.items())[:_CLASSES_SHOWN]]
    return ", ".join(shown) + (", ..." if len(classes) > _CLASSES_SHOWN else "")


def findings(table: Table) -> list[str]:
    """Findings about a table, in sentences."""
    names = [column.name for column in table.columns] or [f"x{j}" for j in range(table.X.shape[1])]
    return [str(finding) for finding in data_findings(table.X, table.y, names)]


def told(findings: Sequence[str]) -> list[str]:
    """Findings as lines."""
    return [f"finding: {finding}" for finding in findings]
