"""Common parts of all displays: axes, colours, a bare frame."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, SIGNAL = "#222222", "#9a9a9a", "#c4451c"
COLOURS = ("#2f6f9f", "#c98a1b", "#5b8c3a", "#7a5aa6", "#b0476b", "#3a9a96", "#8c6d46", "#56636e")
DASHES = ("-", "--", ":", "-.")  # so that lines differ not only in colour


def pyplot() -> Any:
    """Return matplotlib's pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(
            "Plots need matplotlib: install it, or edgewise with the extra 'plot'."
        ) from None
    return plt


def axes(ax: "Axes | None") -> "Axes":
    """The given axes, or new ones."""
    return pyplot().subplots(layout="constrained")[1] if ax is None else ax


def look(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}


def bare(ax: "Axes") -> None:
    ax.spines[["top", "right"]].set_visible(False)
