"""Draws docs/images/race.png from results/accuracy.json: test errors over training time."""

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "images" / "race.png"
LOOKS = {  # name, colour, width, style: dashed where cuts are drawn
    "edgewise-aoso": ("edgewise AOSO", "#c4451c", 2.6, "-"),
    "edgewise-aoso-random": ("edgewise AOSO, random cuts", "#c4451c", 2.0, "--"),
    "lightgbm": ("LightGBM", "#2f6f9f", 1.5, "-"),
    "lightgbm-extra-trees": ("LightGBM, extra_trees", "#2f6f9f", 1.5, "--"),
    "xgboost": ("XGBoost", "#5b8c3a", 1.5, "-"),
    "catboost": ("CatBoost", "#b08a1e", 1.5, "-"),
    "sklearn-hgb": ("scikit-learn HGB", "#7a5aa6", 1.5, "-"),
}
SHOWN = {"letter": "Letter", "pendigits": "Pendigits", "usps": "USPS"}


def main() -> None:
    mpl.use("Agg")
    saved = json.loads((HERE / "results" / "accuracy.json").read_text())
    results = {result["data"]: result for result in saved["results"]}
    figure, axes = plt.subplots(1, len(SHOWN), figsize=(11, 4.0), layout="constrained")
    for ax, name in zip(axes, SHOWN, strict=True):
        draw(ax, results[name])
    axes[0].set_ylabel("test errors")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, dpi=110)


def draw(ax: plt.Axes, result: dict) -> None:
    for entry in result["entries"]:
        label, colour, width, style = LOOKS[entry["contender"]]
        _, seconds, errors = zip(*entry["curve"], strict=True)
        ax.plot(seconds, errors, style, color=colour, linewidth=width, label=label)
    least = min(entry["least_errors"] for entry in result["entries"])
    ax.set(xscale="log", yscale="log", ylim=(0.9 * least, 8 * least), xlabel="seconds of training")
    ax.set_title(f"{SHOWN[result['data']]} ({result['test_rows']} test rows)", fontsize=10)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("{x:g}")
    ax.tick_params(which="both", labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


if __name__ == "__main__":
    main()
