"""A report that compares methods on one data set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .._ground.errors import InvalidDataError, InvalidParameterError
from ._charts import methods_chart, rounds_chart, time_chart
from ._evidence import gather
from ._inputs import (
    Cell,
    Chart,
    Comparison,
    LearningCurve,
    MethodResult,
    PairedTest,
    Section,
    Table,
)
from ._model import sections
from ._page import Page, Tile, cell, render
from ._report import Report

CURVES = 8  # lines that one chart can tell apart

FORMATS = {
    "error": ".2%",
    "log loss": ".4f",
    "Brier": ".4f",
    "calibration": ".4f",
    "fit s": ".3g",
    "predict s": ".3g",
}


def comparison_report(comparison: Comparison) -> Report:
    """Build a page with the table of all methods.

    Details of the best method follow if its predictions are given.

    Parameters
    ----------
    comparison : Comparison
        Results of the methods.

    Returns
    -------
    Report
        The page.

    Examples
    --------
    >>> from edgewise.report import Comparison, MethodResult, comparison_report
    >>> results = [MethodResult("mart", 0.05), MethodResult("samme", 0.07)]
    >>> page = comparison_report(Comparison("iris", results))
    >>> "samme" in page.html
    True
    """
    _check(comparison)
    best = comparison.results[0]
    page = Page(
        title=comparison.title or f"{len(comparison.results)} methods on {comparison.data}",
        kind="comparison",
        subtitle=comparison.protocol,
        sections=[*_methods_sections(comparison), *_best_sections(comparison)],
        tiles=_tiles(comparison, best),
        command=comparison.command,
        facts={"data": comparison.data, **comparison.facts},
    )
    return render(page)


def _check(comparison: Comparison) -> None:
    if not isinstance(comparison, Comparison):
        raise InvalidParameterError(
            f"comparison_report needs a Comparison. Got {type(comparison).__name__}."
        )
    if not comparison.results:
        why = "; ".join(f"{m}: {reason}" for m, reason in comparison.failures.items())
        raise InvalidDataError(f"There is no method to report on. {why}".rstrip())


def _tiles(comparison: Comparison, best: MethodResult) -> list[Tile]:
    interval = "" if best.interval is None else "{:.2%} to {:.2%}".format(*best.interval)
    shown = [Tile("best method", best.method), Tile("its error", f"{best.error:.2%}", interval)]
    for name, value in (("log loss", best.log_loss), ("calibration error", best.calibration)):
        if value is not None:
            shown.append(Tile(f"its {name}", f"{value:.4f}"))
    return [*shown, *(Tile(name, cell(v)) for name, v in list(comparison.facts.items())[:2])]


# --- the methods -------------------------------------------------------------------------------


def _methods_sections(comparison: Comparison) -> list[Section]:
    results = comparison.results
    words = [_test_in_words(comparison.paired_test)] if comparison.paired_test else []
    words += [f"{method} has no figures: {why}" for method, why in comparison.failures.items()]
    charts = [methods_chart(results), time_chart(results)]
    parts: list[Table | Chart] = [_table(results), *(c for c in charts if c is not None)]
    told = [Section("Methods", words, parts)]
    if comparison.curves:
        told.append(_curves_section(comparison.curves))
    if any(r.fold_errors for r in results):
        told.append(
            Section("Folds", ["The error of every method on every fold."], [_folds(results)])
        )
    return told


def _table(results: Sequence[MethodResult]) -> Table:
    notes = any(r.note for r in results)
    head = ["method", "error", "interval", *list(FORMATS)[1:], "model size", *(["note"] * notes)]
    return Table(head, [_row(r)[: len(head)] for r in results], formats=FORMATS, bold=[0])


def _row(r: MethodResult) -> list[Cell]:
    interval = None if r.interval is None else "{:.2%} – {:.2%}".format(*r.interval)
    figures = [r.log_loss, r.brier, r.calibration, r.fit_seconds, r.predict_seconds]
    return [r.method, r.error, interval, *figures, _size(r.model_bytes), r.note]


def _size(n: int | None) -> str | None:
    """Bytes in a unit that a person reads."""
    if n is None:
        return None
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000  # type: ignore[assignment]
    return f"{n:.3g} GB"


def _test_in_words(test: PairedTest) -> str:
    ends = () if test.interval is None else (100 * end for end in test.interval)
    interval = "" if test.interval is None else " ({:+.2f} to {:+.2f})".format(*ends)
    verdict = "is unlikely to be chance" if test.p_value < 0.05 else "may be chance"
    return (
        f"{test.first} and {test.second} differ by {100 * test.difference:+.2f} points{interval} "
        f"in error: that {verdict} (p = {test.p_value:.3g}, {test.name})."
    )


def _curves_section(curves: Sequence[LearningCurve]) -> Section:
    """A chart for each kind of curve."""
    kinds: Mapping[str, list[LearningCurve]] = {c.of: [] for c in curves}
    for curve in curves:
        kinds[curve.of].append(curve)
    charts = [
        rounds_chart(of_kind[:CURVES], title=of.capitalize(), of=of, logarithmic=_steep(of_kind))
        for of, of_kind in kinds.items()
    ]
    words = "A diamond marks the best round of a curve, chosen on the same rows."
    return Section("Rounds of all methods", [words], charts)


def _steep(curves: Sequence[LearningCurve]) -> bool:
    """Return whether a logarithmic scale shows more: the figures differ by a large factor."""
    figures = [float(v) for c in curves for v in c.values]
    return 0 < 8 * min(figures) < max(figures)


def _folds(results: Sequence[MethodResult]) -> Table:
    n = max(len(r.fold_errors) for r in results)
    head = ["method", *(f"fold {i + 1}" for i in range(n))]
    rows: list[list[Cell]] = [
        [r.method, *map(float, r.fold_errors), *[None] * (n - len(r.fold_errors))] for r in results
    ]
    return Table(head, rows, formats=dict.fromkeys(head[1:], ".2%"))


# --- the best one ------------------------------------------------------------------------------


def _best_sections(comparison: Comparison) -> list[Section]:
    if comparison.best is None:
        return []
    name = comparison.best_name or comparison.results[0].method
    told = sections(gather(comparison.best))
    return [replace(s, about=name) for s in told]
