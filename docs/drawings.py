"""Draw the pictures of docs/how_it_works.md: python docs/drawings.py [FOLDER].

The drawings are SVG files made of a few shapes; this script computes every number in them.
"""
# ruff: noqa: PLR0917  (a place, a size and a colour are clear without names)

import sys
from html import escape
from pathlib import Path

import numpy as np

CLASS = ("#3b6fb6", "#d9822b", "#3f9b6c")  # one colour for each class
INK, FAINT, PAPER = "#26303d", "#9aa5b4", "#f6f8fb"


class Drawing:
    """Shapes of an SVG file on a light card, which is readable on light and dark pages."""

    def __init__(self, width, height, title):
        self.size = width, height
        self.title = title
        self.shapes = []

    def box(self, x, y, w, h, fill, radius=3, stroke="none"):
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{radius}"'
        self.shapes.append(f'<rect {shape} fill="{fill}" stroke="{stroke}"/>')

    def text(self, x, y, words, size=13, fill=INK, anchor="middle", weight="normal"):
        style = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}"'
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, stroke=FAINT, width=1.5, arrow=False, dash=""):
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        head = ' marker-end="url(#head)"' if arrow else ""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<line {ends} stroke="{stroke}" stroke-width="{width:.1f}"{head}{dashed}/>'
        )

    def disc(self, x, y, radius, fill, opacity=1.0):
        place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
        self.shapes.append(f'<circle {place} fill="{fill}" fill-opacity="{opacity:.2f}"/>')

    def save(self, path):
        w, h = self.size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" font-family="system-ui, sans-serif" role="img">\n'
            f"<title>{escape(self.title)}</title>\n"
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{FAINT}"/>'
            "</marker></defs>\n"
            f'<rect width="{w}" height="{h}" rx="10" fill="{PAPER}"/>\n'
        )
        path.write_text(head + "\n".join(self.shapes) + "\n</svg>\n", encoding="utf-8")


def histogram():
    """Draw the histogram of a node: values to bins, sums per bin, and the gain of every cut."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(0, 5, 45), rng.uniform(5, 10, 35)])
    g = np.where(x < 5, -0.55, 0.7) + rng.normal(0, 0.35, len(x))
    h = np.full(len(x), 0.5)
    bins = np.clip(x.astype(int), 0, 9)
    G, H = (np.bincount(bins, weights, 10) for weights in (g, h))
    gains = [gain_of(G[:c], H[:c], G[c:], H[c:]) for c in range(1, 10)]
    best = int(np.argmax(gains)) + 1

    d = Drawing(680, 390, "Rows fall into bins, sums per bin, gain of every cut")
    left, step = 130, 52
    d.text(left - 12, 58, "rows", anchor="end")
    d.text(left - 12, 73, "by gradient", 11, FAINT, "end")
    for row, place in enumerate(x):
        jitter = 40 + 38 * ((row * 0.618) % 1)
        d.disc(left + place * step, jitter, 3.2, CLASS[0] if g[row] < 0 else CLASS[1], 0.75)
    zero, scale = 170, 52 / np.abs(G).max()
    d.text(left - 12, 168, "sum of gradients", anchor="end")
    d.text(left - 12, 183, "in each bin", 11, FAINT, "end")
    for b in range(10):
        high = abs(G[b]) * scale
        top = zero - high if G[b] > 0 else zero
        d.box(left + b * step + 3, top, step - 6, high, CLASS[1] if G[b] > 0 else CLASS[0])
        d.text(left + (b + 0.5) * step, 246, f"bin {b}", 11, FAINT)
    d.line(left, zero, left + 10 * step, zero)
    base, scale = 345, 80 / max(gains)
    d.text(left - 12, 308, "gain of a split", anchor="end")
    d.text(left - 12, 323, "at each cut", 11, FAINT, "end")
    for cut, gain in enumerate(gains, start=1):
        colour = CLASS[2] if cut == best else FAINT
        d.box(left + cut * step - 9, base - gain * scale, 18, gain * scale, colour)
    d.line(left, base, left + 10 * step, base)
    d.line(left + best * step, 30, left + best * step, base, CLASS[2], 2, dash="5 4")
    d.text(left + best * step, 368, "best cut", 12, CLASS[2], weight="bold")
    return d


def gain_of(G_left, H_left, G_right, H_right):
    """Newton's gain of a split, from the sums on its two sides."""
    whole = (G_left.sum() + G_right.sum()) ** 2 / (H_left.sum() + H_right.sum())
    return G_left.sum() ** 2 / H_left.sum() + G_right.sum() ** 2 / H_right.sum() - whole


def node(d, x, y, words, pair=(), width=104):
    """Draw a node of a tree, with a dot for every class that it is about."""
    d.box(x - width / 2, y - 17, width, 34, "white", 8, FAINT)
    d.text(x, y + (1 if pair else 5), words)
    for place, k in enumerate(pair):
        d.disc(x + (place - (len(pair) - 1) / 2) * 14, y + 10, 4, CLASS[k])


def leaf(d, x, y, moves):
    """Draw a leaf as a bar for every class that it moves."""
    for place, (k, by) in enumerate(moves):
        left = x + (place - (len(moves) - 1) / 2) * 20
        d.box(left - 7, y - 26 * by if by > 0 else y, 14, 26 * abs(by), CLASS[k])
    d.line(x - 32, y, x + 32, y)


def pair_tree():
    """Draw a tree of AOSO: every node separates its own pair of classes."""
    d = Drawing(680, 360, "A pair tree: every node chooses two classes, leaves move two scores")
    places = {"root": (340, 45), "l": (180, 135), "r": (500, 135)}
    for child in ("l", "r"):
        d.line(340, 62, places[child][0], 118)
    for parent, leaves in (("l", (100, 260)), ("r", (420, 580))):
        for x in leaves:
            d.line(places[parent][0], 152, x, 214)
    node(d, *places["root"], "x3 ≤ 0.7 ?", (0, 1))
    node(d, *places["l"], "x1 ≤ 2.5 ?", (0, 2))
    node(d, *places["r"], "x2 ≤ 9 ?", (1, 2))
    moves = [
        ((0, 0.9), (2, -0.9)),
        ((2, 0.7), (0, -0.7)),
        ((1, 1.0), (2, -1.0)),
        ((2, 0.5), (1, -0.5)),
    ]
    for x, pairs in zip((100, 260, 420, 580), moves, strict=True):
        leaf(d, x, 245, sorted(pairs))
    d.text(
        340, 300, "A leaf raises one class of its pair and lowers the other by the same step.", 13
    )
    for k, name in enumerate(("class A", "class B", "class C")):
        d.disc(220 + 100 * k, 328, 5, CLASS[k])
        d.text(230 + 100 * k, 333, name, 12, INK, "start")
    return d


def integer_sums():
    """Draw why integer sums do not depend on the order, with the floats as they are."""
    values = np.array([0.1, 0.7, 1e16, -1e16])
    orders = [(0, 1, 2, 3), (2, 3, 0, 1)]
    d = Drawing(680, 330, "A sum of floats depends on the order, a sum of integers does not")
    d.text(24, 36, "Floats: every addition rounds, so the order matters", 14, INK, "start", "bold")
    for row, order in enumerate(orders):
        total = 0.0
        for k in order:
            total += values[k]
        terms = " + ".join(f"({values[k]:g})" if values[k] < 0 else f"{values[k]:g}" for k in order)
        y = 68 + 30 * row
        d.text(40, y, f"{terms}  =", 15, INK, "start")
        d.text(430, y, f"{total:.1f}", 15, CLASS[1], "start", "bold")
    d.line(24, 120, 656, 120)
    d.text(24, 148, "Integers: round every term once, then add", 14, INK, "start", "bold")
    unit = 2.0**-10
    gradients = np.array([0.3127, -0.2051, 0.4479, -0.1163])
    units = np.rint(gradients / unit).astype(int)
    for k, (g, u) in enumerate(zip(gradients, units, strict=True)):
        x = 90 + 130 * k
        d.box(x - 52, 168, 104, 30, "white", 6, FAINT)
        d.text(x, 188, f"{g:+.4f}", 14)
        d.line(x, 200, x, 222, arrow=True)
        d.box(x - 52, 226, 104, 30, CLASS[0], 6)
        d.text(x, 246, f"{u:+d} units", 14, "white")
    total = int(units.sum())
    d.text(598, 188, "unit = 1/1024", 12, FAINT)
    d.text(598, 247, f"= {total}", 16, CLASS[2], weight="bold")
    d.text(
        340, 286, f"Any order, any number of threads: {total} units, {total * unit:.6f}.", 14, INK
    )
    d.text(340, 308, "The rounding error is known: half a unit per row.", 12, FAINT)
    return d


def small_tree(d, x, y, colours):
    """Draw a tree of three nodes whose leaves move some classes."""
    d.line(x, y + 8, x - 26, y + 42)
    d.line(x, y + 8, x + 26, y + 42)
    d.disc(x, y, 9, FAINT)
    for side in (-1, 1):
        for place, colour in enumerate(colours):
            left = x + side * 26 + (place - (len(colours) - 1) / 2) * 12
            d.box(left - 5, y + 44, 10, 20, colour, 2)


def rounds(kind):
    """Draw the trees of one round of an algorithm, for three classes."""
    titles = {
        "class_trees": ("MART and LogitBoost: a tree for every class", [[0], [1], [2]]),
        "abc": ("ABC: each tree moves a class against the base class (blue)", [[1, 0], [2, 0]]),
    }
    title, trees = titles[kind]
    d = Drawing(520, 160, title)
    d.text(260, 28, title, 14, weight="bold")
    for place, classes in enumerate(trees):
        x = 260 + (place - (len(trees) - 1) / 2) * 150
        small_tree(d, x, 62, [CLASS[k] for k in classes])
        words = "class " + " against ".join("ABC"[k] for k in classes)
        d.text(x, 148, words, 12, FAINT)
    return d


def folds():
    """Draw AutoBoost: members that hold out one fold each, and their average."""
    d = Drawing(680, 330, "AutoBoost: every member holds out one fold; scores are averaged")
    d.text(110, 32, "eight folds of the rows", 13, INK, "start", "bold")
    settings = ("random cuts", "best cuts", "large trees")
    for member in range(8):
        y = 48 + 29 * member
        for fold in range(8):
            held = fold == member
            d.box(110 + 30 * fold, y, 26, 22, CLASS[1] if held else CLASS[0], 4)
        d.text(98, y + 16, f"member {member + 1}", 12, INK, "end")
        d.text(362, y + 16, settings[member % 3], 12, FAINT, "start")
        d.line(445, y + 11, 520, 160, arrow=True)
    d.box(524, 132, 132, 56, "white", 8, FAINT)
    d.text(590, 156, "average of scores", 13)
    d.text(590, 174, "= one forest", 13)
    d.disc(118, 306, 6, CLASS[0])
    d.text(130, 310, "learned from", 12, INK, "start")
    d.disc(238, 306, 6, CLASS[1])
    d.text(
        250, 310, "held out: stops the member, gives out-of-fold probabilities", 12, INK, "start"
    )
    return d


def votes():
    """Draw a factorised base classifier: one cut phi, and a vote for every label."""
    d = Drawing(680, 250, "A factorised base classifier: one cut, a vote for every label")
    d.text(150, 32, "cut φ(x)", 14, weight="bold")
    d.box(50, 52, 100, 130, "#dfe8f4", 0)
    d.box(150, 52, 100, 130, "#f6e3d0", 0)
    d.line(150, 46, 150, 190, INK, 2, dash="5 4")
    d.text(100, 122, "+1", 20, CLASS[0], weight="bold")
    d.text(200, 122, "−1", 20, CLASS[1], weight="bold")
    d.text(285, 122, "×", 22)
    d.text(370, 32, "votes v", 14, weight="bold")
    d.text(455, 122, "=", 22)
    d.text(570, 32, "h(x) = v φ(x)", 14, weight="bold")
    for k, vote in enumerate((1, -1, 1)):
        y = 70 + 46 * k
        d.disc(330, y + 4, 6, CLASS[k])
        d.text(385, y + 9, f"label {'ABC'[k]}: {'+1' if vote > 0 else '−1'}", 14)
        for side, sign in ((0, 1), (1, -1)):
            up = vote * sign > 0
            d.box(500 + 72 * side, y - 14, 68, 36, "#dfe8f4" if up else "#f6e3d0", 4)
            d.text(534 + 72 * side, y + 10, "+1" if up else "−1", 15, CLASS[0] if up else CLASS[1])
    d.text(150, 210, "the same for all labels", 12, FAINT)
    d.text(370, 210, "one for each label", 12, FAINT)
    d.text(570, 210, "left side, right side", 12, FAINT)
    return d


def walk():
    """Draw MartiBoost's layers and the path of one row."""
    d = Drawing(520, 300, "Layers of weak learners; a row steps left or right at every node")
    layers, path = 5, (0, 1, 1, 2, 3)

    def place(layer, i):
        return 260 + (2 * i - layer) * 42, 34 + 50 * layer

    for layer in range(layers - 1):
        for i in range(layer + 1):
            for step in (0, 1):
                taken = path[layer] == i and path[layer + 1] == i + step
                colour = CLASS[1] if taken else FAINT
                d.line(*place(layer, i), *place(layer + 1, i + step), colour, 4 if taken else 1.2)
    for layer in range(layers):
        for i in range(layer + 1):
            x, y = place(layer, i)
            d.disc(x, y, 13, CLASS[1] if path[layer] == i else "#c9d3e0")
            d.text(x, y + 4, str(i), 11, "white" if path[layer] == i else INK)
    d.text(260, 282, "More steps to the right than to the left: the prediction is 1.", 13)
    return d


DRAWINGS = {
    "how_histogram": histogram,
    "how_pair_tree": pair_tree,
    "how_integer_sums": integer_sums,
    "how_round_class_trees": lambda: rounds("class_trees"),
    "how_round_abc": lambda: rounds("abc"),
    "how_folds": folds,
    "how_votes": votes,
    "how_walk": walk,
}


def main(folder):
    for name, draw in DRAWINGS.items():
        draw().save(folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
