"""The critical-difference diagram: mean ranks on a line, and bars over those that may be equal."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd

from . import standings

OURS = "#c4451c"
LINE = 0.42  # height of a label's line, in units of the axis


def draw(measures: dict[str, pd.DataFrame], path: Path) -> None:
    """One panel for each measure's values by table and contender."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    n_contenders = next(iter(measures.values())).shape[1]
    rows = (n_contenders + 1) // 2
    figure, axes = plt.subplots(
        len(measures), 1, figsize=(9, (1.5 + 0.3 * rows) * len(measures)), squeeze=False
    )
    for ax, (title, values) in zip(axes[:, 0], measures.items(), strict=True):
        _panel(ax, title, values)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _panel(ax, title: str, values: pd.DataFrame) -> None:
    mean_ranks = standings.ranks(values).mean().sort_values(kind="stable")
    n_contenders, n_tables = len(mean_ranks), len(values)
    difference = standings.critical_difference(n_contenders, n_tables)
    bars = standings.cliques(mean_ranks, difference)
    _axis(ax, n_contenders)
    for place, (low, high) in enumerate(bars):
        y = -0.22 - 0.13 * place
        ax.plot([low - 0.03, high + 0.03], [y, y], color="#333333", linewidth=3.2)
    _labels(ax, mean_ranks, top=-0.35 - 0.13 * len(bars))
    ax.plot([1, 1 + difference], [0.62, 0.62], color="black", linewidth=1.6)
    ax.text(1 + difference / 2, 0.68, f"critical difference {difference:.2f}", ha="center", size=8)
    ax.set_title(f"{title}: mean rank on {n_tables} tables (left is better)", size=10, pad=10)


def _axis(ax, n_contenders: int) -> None:
    ax.plot([1, n_contenders], [0, 0], color="black", linewidth=1)
    for rank in range(1, n_contenders + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        ax.text(rank, 0.18, str(rank), ha="center", size=8)
    ax.set_xlim(1 - 0.33 * n_contenders, n_contenders * 1.33)
    ax.axis("off")


def _labels(ax, mean_ranks: pd.Series, top: float) -> None:
    """The better half is named on the left, the worse half on the right."""
    n_contenders = len(mean_ranks)
    left = (n_contenders + 1) // 2
    for place, (name, rank) in enumerate(mean_ranks.items()):
        on_left = place < left
        line = place if on_left else n_contenders - 1 - place
        y = top - LINE * line
        edge = 1 - 0.06 * n_contenders if on_left else n_contenders * 1.06
        colour = OURS if str(name).startswith("edgewise") else "black"
        ax.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=1)
        side = "right" if on_left else "left"
        text = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        shift = -0.05 if on_left else 0.05
        ax.text(edge + shift, y, text, ha=side, va="center", size=9, color=colour)
    ax.set_ylim(top - LINE * left, 1.0)
