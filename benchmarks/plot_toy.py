"""The picture of `geist --toy`: test error over label noise, as in Geist's Figure 7."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

LOOKS = {
    "SAMME": ("SAMME (AdaBoost)", "#2f6f9f"),
    "MartiBoost": ("MartiBoost", "#5b8c3a"),
    "sm-boost": ("soft-max boosting", "#c4451c"),
}


def draw(results: list[dict[str, Any]], target: Path) -> None:
    """Mean and standard deviation over the draws, as a picture in the file `target`."""
    mpl.use("Agg")
    noise = sorted({result["noise"] for result in results})
    figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
    ax.plot(noise, noise, color="#999999", linewidth=0.8, linestyle=":", label="noise level")
    for algorithm, (label, colour) in LOOKS.items():
        errors = [
            [r["error"] for r in results if (r["noise"], r["algorithm"]) == (p, algorithm)]
            for p in noise
        ]
        middle, spread = (np.array([f(e) for e in errors]) for f in (np.mean, np.std))
        ax.plot(noise, middle, color=colour, marker="o", markersize=3, label=label)
        ax.fill_between(
            noise, middle - spread, middle + spread, color=colour, alpha=0.2, linewidth=0
        )
    ax.set(xlabel="share of wrong training labels", ylabel="test error", ylim=(-0.01, 0.55))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(target, dpi=110)
    plt.close(figure)
