"""What the cells amount to: standings by measure, wins and losses, targets, and a picture."""

import json
import math
import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import pandas as pd

from .. import report
from . import picture, standings
from .contenders import AUTO, DEFAULTS, REFERENCE
from .tables import table_names

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "field.png"
MEASURES = {
    "error": "error",
    "log_loss": "log loss",
    "brier": "Brier score",
    "fit_seconds": "fit time",
    "predict_seconds": "predict time",
}
BUSY = 0.1  # share of the cores that others may take before a time is worth little
SEARCHED = "autogluon@60"
WITH_TIME = f"{AUTO}@60"


def show(cells: pd.DataFrame, args: Namespace, tables: list[str]) -> None:
    """Print everything; write summary.json and ranks.png beside the cells."""
    cells = _chosen(cells, args, tables)
    if cells is None:
        return
    values = {name: standings.medians(cells, name) for name in MEASURES}
    counts = cells.assign(value=(cells["wrong"] + 0.5) / (cells["n_test"] + 1))
    smooth = {**values, "error": standings.medians(counts, "value")}
    rows = {name: _standings(values[name], smooth[name]) for name in MEASURES}
    for name, title in MEASURES.items():
        _print_standings(title, rows[name])
    subject = _subject(values["error"])
    losses = []
    if subject is not None:
        losses = _print_subject(subject, values)
        _print_targets(subject, values, smooth, args)
    _notes(cells)
    shown = {MEASURES[name]: values[name] for name in ("error", "log_loss")}
    record = {
        "standings": rows,
        "losses_by_log_loss": losses,
        "medians": {name: _plain(frame) for name, frame in values.items()},
        "versions": dict(sorted(cells.groupby("contender")["version"].last().items())),
        "cells_beside_other_programs": _busy_share(cells),
    }
    _write(_without_nan(record), shown, args)


def _chosen(cells: pd.DataFrame, args: Namespace, tables: list[str]) -> pd.DataFrame | None:
    """Complete tables of the contenders asked for, as far as they have cells."""
    if cells.empty:
        print("no cells: run without --summary first")
        return None
    cells = cells[cells["table"].isin(tables) & (cells["seed"].isin(args.seeds))]
    ours = cells["contender"].str.startswith("edgewise")
    given = cells["params"].map(lambda params: params == args.param)
    cells = cells[given | ~ours]
    there = [name for name in args.contenders if (cells["contender"] == name).any()]
    for name in args.contenders:
        if name not in there:
            report.note(f"{name} has no cells of these tables and seeds")
    whole = standings.complete(cells, there, args.seeds)
    absent = sorted(set(tables) - set(whole["table"]))
    if absent:
        report.note(f"{len(absent)} tables are not complete and left out: {', '.join(absent)}")
    if whole.empty:
        print("no table has cells of all these contenders and seeds; name fewer")
        return None
    return whole


def _standings(values: pd.DataFrame, smooth: pd.DataFrame) -> list[dict[str, Any]]:
    """A row per contender, the lowest mean rank first."""
    failures = (values == float("inf")).sum()
    reference = REFERENCE if REFERENCE in values else str(failures.idxmin())
    mean_ranks = standings.ranks(values).mean().sort_values(kind="stable")
    rows = []
    for name, rank in mean_ranks.items():
        found = standings.ratio(smooth[name], smooth[reference])
        rows.append(
            {
                "contender": name,
                "mean_rank": round(float(rank), 3),
                "over": reference,
                "ratio": round(found.mean, 4),
                "interval": [round(found.low, 4), round(found.high, 4)],
                **standings.score(values[name], values[reference])._asdict(),
                "failed": int((values[name] == float("inf")).sum()),
            }
        )
    return rows


def _print_standings(title: str, rows: list[dict[str, Any]]) -> None:
    reference = rows[0]["over"]
    columns = [
        "contender",
        "mean rank",
        f"over {reference}",
        "95 %",
        "won",
        "tied",
        "lost",
        "failed",
    ]
    lines = []
    for row in rows:
        low, high = row["interval"]
        counts = [row[key] for key in ("won", "tied", "lost", "failed")]
        lines.append(
            [row["contender"], row["mean_rank"], row["ratio"], f"{low:.3f}-{high:.3f}", *counts]
        )
    report.print_table(f"{title}: geometric mean ratio, wins and losses", columns, lines)


def _subject(values: pd.DataFrame) -> str | None:
    """The contender whose wins and losses are told one by one."""
    ours = [name for name in values if str(name).startswith("edgewise")]
    return AUTO if AUTO in ours else (str(ours[0]) if ours else None)


def _print_subject(subject: str, values: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Against each peer, and every table where the best peer has the lower log loss."""
    peers = [name for name in values["error"] if not str(name).startswith("edgewise")]
    if not peers:
        return []
    lines = []
    for peer in peers:
        counts = [
            standings.score(values[m][subject], values[m][peer]) for m in ("error", "log_loss")
        ]
        lines.append([peer, *("{}-{}-{}".format(*count) for count in counts)])
    columns = ["peer", "error: won-tied-lost", "log loss: won-tied-lost"]
    report.print_table(f"{subject} against each peer", columns, lines)
    losses = _losses(values["log_loss"], subject, [p for p in peers if p in DEFAULTS] or peers)
    rows = [[loss["table"], loss["ratio"], loss["best"]] for loss in losses]
    title = f"{subject} has a higher log loss than the best default on {len(rows)} tables"
    report.print_table(title, ["table", "over the best", "the best"], rows)
    return losses


def _losses(values: pd.DataFrame, subject: str, peers: list[str]) -> list[dict[str, Any]]:
    best = values[peers].min(axis=1)
    found = (values[subject] / best).sort_values(ascending=False)
    lost = found[found > 1]
    names = values[peers].idxmin(axis=1)
    return [
        {"table": table, "ratio": round(float(over), 4), "best": names[table]}
        for table, over in lost.items()
    ]


def _print_targets(
    subject: str,
    values: dict[str, pd.DataFrame],
    smooth: dict[str, pd.DataFrame],
    args: Namespace,
) -> None:
    """What is wanted of the front door, among the libraries' defaults alone."""
    if subject != AUTO or not set(DEFAULTS) <= set(values["error"]):
        return
    group = [AUTO, *DEFAULTS]
    rank = {m: standings.ranks(values[m][group]).mean()[AUTO] for m in ("error", "log_loss")}
    over = {m: standings.ratio(smooth[m][AUTO], smooth[m][REFERENCE]).mean for m in MEASURES}
    lightgbm = standings.ratio(values["fit_seconds"][AUTO], values["fit_seconds"]["lightgbm"]).mean
    worst = (values["log_loss"][AUTO] / values["log_loss"][list(DEFAULTS)].min(axis=1)).max()
    lines = [
        ["error: mean rank", rank["error"], 2.0],
        ["log loss: mean rank", rank["log_loss"], 1.3],
        [f"error over {REFERENCE}'s", over["error"], 0.80],
        [f"log loss over {REFERENCE}'s", over["log_loss"], 0.68],
        [f"fit time over {REFERENCE}'s", over["fit_seconds"], 0.1],
        ["fit time over lightgbm's", lightgbm, 1.5],
        ["log loss over the best default's, worst table", worst, 1.05],
        *_against_search(values),
    ]
    whole = len(values["error"]) == len(table_names()) and len(args.seeds) >= 3
    judged = args.judged and whole and bool(os.environ.get("EDGEWISE_DATA"))
    rows = [
        [what, round(float(got), 4), wanted, report.verdict(got, wanted if judged else None)]
        for what, got, wanted in lines
    ]
    title = f"{AUTO} among {len(group)}: itself and the libraries' defaults"
    report.print_table(title, ["what", "measured", "wanted at most", ""], rows)


def _against_search(values: dict[str, pd.DataFrame]) -> list[list[Any]]:
    """Beside AutoGluon with a minute, where it was measured."""
    log_loss, seconds = values["log_loss"], values["fit_seconds"]
    if SEARCHED not in log_loss:
        return []
    rows: list[list[Any]] = [
        [
            f"share of tables lost to {SEARCHED} by log loss",
            1 - standings.score(log_loss[AUTO], log_loss[SEARCHED]).won / len(log_loss),
            round(1 / 7, 4),
        ],
        [
            f"log loss over {SEARCHED}'s",
            standings.ratio(log_loss[AUTO], log_loss[SEARCHED]).mean,
            0.85,
        ],
        [
            f"fit time over {SEARCHED}'s",
            standings.ratio(seconds[AUTO], seconds[SEARCHED]).mean,
            0.05,
        ],
    ]
    if WITH_TIME in log_loss:
        found = standings.ratio(log_loss[WITH_TIME], log_loss[SEARCHED]).mean
        rows.append([f"{WITH_TIME}: log loss over {SEARCHED}'s", found, 0.82])
    return rows


def _notes(cells: pd.DataFrame) -> None:
    for (name, reason), some in cells.dropna(subset=["failed"]).groupby(["contender", "failed"]):
        report.note(f"{name} failed on {', '.join(sorted(set(some['table'])))}: {reason}")
    busy = _busy_share(cells)
    if busy:
        report.note(
            f"{busy:.0%} of the cells were measured while other programs took more than "
            f"{BUSY:.0%} of the cores: do not trust their times"
        )
    budgeted = cells[cells["contender"].str.contains("@")]
    for name, some in budgeted.groupby("contender"):
        if _busy_share(some):
            report.note(
                f"{name} shared the cores on {_busy_share(some):.0%} of its cells: "
                "its errors and losses suffer, too; measure it again on a quiet machine"
            )
    for name, versions in cells.groupby("contender")["version"].unique().items():
        found = [version for version in versions if isinstance(version, str)]
        if len(found) > 1:
            report.note(f"cells of {name} come from several builds: {', '.join(found)}")


def _busy_share(cells: pd.DataFrame) -> float:
    return round(float((cells["others"] > BUSY).mean()), 3)


def _write(record: dict[str, Any], shown: dict[str, pd.DataFrame], args: Namespace) -> None:
    place = args.results / "summary.json"
    place.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written: {place}")
    if next(iter(shown.values())).shape[1] < 2:
        return  # ranks of one contender: nothing to draw, nothing to publish
    picture.draw(shown, args.results / "ranks.png")
    print(f"written: {args.results / 'ranks.png'}")
    if args.publish:
        hidden = ("results", "few", "publish", "summary", "rerun", "python")
        settings = {key: value for key, value in vars(args).items() if key not in hidden}
        report.save("field", settings, record, quick=args.quick)
        picture.draw(shown, PICTURE)


def _without_nan(record: Any) -> Any:
    """JSON has no word for the ratio of contenders that share no table without a failure."""
    if isinstance(record, dict):
        return {key: _without_nan(value) for key, value in record.items()}
    if isinstance(record, list):
        return [_without_nan(value) for value in record]
    return None if isinstance(record, float) and math.isnan(record) else record


def _plain(values: pd.DataFrame) -> dict[str, dict[str, float | None]]:
    return {
        str(table): {
            str(name): None if value == float("inf") else float(f"{value:.4g}")
            for name, value in row.items()
        }
        for table, row in values.iterrows()
    }
