"""One tree of a model, drawn from left to right: a line for every leaf."""

from typing import TYPE_CHECKING, Any, Self

from .._ground.errors import InvalidParameterError
from .._model.described import Names, Node
from ._axes import COLOURS, FAINT, INK, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THICKEST, THINNEST = 6.0, 0.6  # points: ways of all rows, and of none
COLUMN, LINE = 2.1, 0.3  # inches for a level of nodes, and for a leaf
LETTER = 0.068  # inches


class TreeDisplay:
    """A tree as a picture: questions, paths of the rows and leaf values.

    The upper path of a node means yes. The thickness of a path shows the share of the training rows
    that take it. A leaf has the colour of the class whose score it raises most.

    Parameters
    ----------
    nodes : list of Node
        Nodes of the tree, as `from_estimator` reads them.
    names : Names
        Names of the features and classes.
    title : str
        Title of the picture.
    max_depth : int or None, default=None
        Depth to which nodes are drawn. None draws all.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the drawing.
    figure_ : matplotlib figure
        Figure of the drawing.
    texts_ : dict of int
        Texts at the nodes, by the number of the node in its tree.
    ways_ : dict of int
        Lines from nodes to their children, by the number of the child.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import TreeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = TreeDisplay.from_estimator(model, tree=0)
    >>> plt.close("all")
    """

    ax_: "Axes"
    figure_: "Figure"
    texts_: dict[int, Any]
    ways_: dict[int, Any]

    def __init__(
        self, *, nodes: list[Node], names: Names, title: str, max_depth: int | None = None
    ) -> None:
        self.nodes, self.names, self.title, self.max_depth = nodes, names, title, max_depth

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, tree: int = 0, max_depth: int | None = None, ax: Any = None
    ) -> Self:
        """Draw a tree of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with trees of this library.
        tree : int, default=0
            Number of the tree in the model, from 0.
        max_depth : int, default=None
            Depth to which nodes are drawn. None draws all.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        reader_of = getattr(estimator, "_reader", None)
        if reader_of is None:
            raise InvalidParameterError(
                "TreeDisplay needs an estimator of edgewise whose scores are sums of trees. Got "
                f"{type(estimator).__name__}."
            )
        reader = reader_of("TreeDisplay")
        if not 0 <= tree < reader.model.n_trees:
            raise InvalidParameterError(
                f"tree must be from 0 to {reader.model.n_trees - 1}. Got {tree}."
            )
        title = f"tree {tree} (round {reader.round_of(tree)}); yes is up"
        display = cls(
            nodes=reader.nodes(tree), names=reader.names, title=title, max_depth=max_depth
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given axes, or on new ones of a size that fits the tree.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        heights = self._heights()
        if ax is None:
            ax = self._axes(heights)
        self.ax_, self.figure_ = ax, ax.figure
        self.texts_, self.ways_ = {}, {}
        for number, height in heights.items():
            node = self.nodes[number]
            if node.parent >= 0:
                self.ways_[number] = self._way(node, heights[node.parent], height)
            self.texts_[number] = self._words(node, height)
        ax.set_xlim(-0.15, self._columns(heights))
        ax.set_ylim(min(heights.values()) - 0.8, 0.8)
        ax.set_axis_off()
        ax.set_title(self.title, loc="left", fontsize="medium")
        return self

    def _ends(self, node: Node) -> bool:
        """Return whether the drawing ends at the node."""
        return node.is_leaf or (self.max_depth is not None and node.depth >= self.max_depth)

    def _heights(self) -> dict[int, float]:
        """Return heights by node: leaves below each other, others half-way between children."""
        heights: dict[int, float] = {}
        todo, n_ends = [0], 0
        while todo:
            node = self.nodes[todo[-1]]
            if self._ends(node):
                heights[node.number] = -float(n_ends)
                n_ends += 1
                todo.pop()
            elif node.right in heights:
                heights[node.number] = (heights[node.left] + heights[node.right]) / 2
                todo.pop()
            else:
                todo.append(node.right if node.left in heights else node.left)
        return heights

    def _columns(self, heights: dict[int, float]) -> float:
        """Return the width of the drawing, up to the end of the last text."""
        nodes = [self.nodes[number] for number in heights]
        return max(node.depth + 0.2 + len(self._said(node)) * LETTER / COLUMN for node in nodes)

    def _axes(self, heights: dict[int, float]) -> "Axes":
        n_ends = 1 - min(heights.values())
        size = (COLUMN * (self._columns(heights) + 0.15), max(1.2, 0.6 + LINE * n_ends))
        made: Axes = pyplot().subplots(layout="constrained", figsize=size)[1]
        return made

    def _way(self, node: Node, from_height: float, height: float) -> Any:
        x = node.depth - 1
        width = THINNEST + (THICKEST - THINNEST) * node.cover
        (line,) = self.ax_.plot(
            [x, x + 0.06, x + 1],
            [from_height, height, height],
            color=FAINT,
            linewidth=width,
            solid_joinstyle="round",
            solid_capstyle="butt",
            zorder=1,
        )
        return line

    def _words(self, node: Node, height: float) -> Any:
        style: dict[str, Any] = {"fontsize": "x-small", "va": "center", "color": INK}
        x = node.depth + 0.08
        if node.is_leaf:
            x = node.depth + 0.03
            if node.values.max() > 0:
                style["color"] = COLOURS[node.classes[node.values.argmax()] % len(COLOURS)]
        else:
            frame = {"facecolor": "white", "edgecolor": FAINT, "linewidth": 0.6, "pad": 2.0}
            style |= {"bbox": frame, "zorder": 2}
        return self.ax_.text(x, height, self._said(node), **style)

    def _said(self, node: Node) -> str:
        if node.is_leaf:
            return ", ".join(node.moves(self.names)) or "nothing"
        return "..." if self._ends(node) else f"{node.question(self.names)}?"
