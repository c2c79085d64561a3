"""A scorer in one Python file that needs nothing but Python's own library."""

from typing import Any

from ._contents import Contents, contents_of
from ._source import description, number, plain_value, quoted, tables, wrapped
from ._verified import Verification

_WALK = '''

def _leaf(tree, row):
    """The number of the leaf in which a row ends."""
    root = at = NODE_START[tree]
    while FEATURE[at] >= 0:
        value = row[FEATURE[at]]
        if SET_OF_NODE[at] >= 0:
            left = value in SETS[SET_OF_NODE[at]]
        elif value != value:  # missing
            left = MISSING_LEFT[at]
        else:
            left = value <= THRESHOLD[at]
        at = root + LEFT[at] + (not left)
    return LEFT[at]


def _numbers(row):
    """The row as numbers: None as NaN, categories as their places, strangers as NaN."""
    if len(row) != N_FEATURES:
        raise ValueError(f"a row must have {N_FEATURES} values, got {len(row)}")
    out = []
    for j, value in enumerate(row):
        if j in CATEGORIES:
            value = CATEGORIES[j].get(value, math.nan)
        out.append(math.nan if value is None else float(value))
    return out
'''

_SUM = '''

def scores(row):
    """The scores of all classes."""
    row = _numbers(row)
    out = list(START)
    for tree in range(len(WIDTH)):
        first = VALUE_START[tree] + _leaf(tree, row) * WIDTH[tree]
        for m in range(first, first + WIDTH[tree]):
            out[CLASSES_MOVED[m]] += VALUES[m]
    return out
'''

_PROGRAM = '''

def predict_proba(row):
    """The probabilities that the walk of a row ends in each class."""
    row = _numbers(row)
    mass, settled, first = [1.0], 0.0, 0
    for layer in range(N_LAYERS):
        after = [0.0] * (layer + 2)
        for i in range(layer, -1, -1):
            tree = first + i
            if FROZEN[tree]:
                settled += mass[i] * RIGHT[2 * tree]
            else:
                says = VALUES[VALUE_START[tree] + _leaf(tree, row)] > 0.0
                right = RIGHT[2 * tree + says]
                after[i + 1] += mass[i] * right
                after[i] += mass[i] * (1.0 - right)
        mass, first = after, first + layer + 1
    for i, share in enumerate(mass):
        settled += share * (1.0 if 2 * i > N_LAYERS else 0.5 if 2 * i == N_LAYERS else 0.0)
    return [1.0 - settled, settled]


def predict(row):
    """The class of a row."""
    no, yes = predict_proba(row)
    return CLASSES[int(yes - no > 0)]
'''

_SOFTMAX = """

def _softmax(logits):
    largest = max(logits)
    odds = [math.exp(z - largest) for z in logits]
    total = sum(odds)
    return [o / total for o in odds]
"""

_LINKS = {
    "softmax": '''

def predict_proba(row):
    """The probabilities of all classes."""
    return _softmax(scores(row))
''',
    "vote shares": '''

def predict_proba(row):
    """The probabilities of all classes."""
    votes = scores(row)
    total = sum(votes)
    return _softmax([SHARPNESS * (v / total) if total > 0 else 0.0 for v in votes])
''',
    "label odds": '''

def _log_odds(score):
    """log P of a label."""
    z = LOG_ODDS - 2.0 * score
    return -(max(z, 0.0) + math.log1p(math.exp(-abs(z))))


def predict_proba(row):
    """The probabilities of all classes."""
    log_p = [_log_odds(score) for score in scores(row)]
    return [math.exp(z) for z in log_p] if MULTI_LABEL else _softmax(log_p)
''',
}

_PREDICT = '''

def predict(row):
    """The class of a row: of the largest score, the first of equals."""
    F = scores(row)
    return CLASSES[F.index(max(F))]
'''
_PREDICT_LABELS = '''

def predict(row):
    """For each label 1 if the row has it, else 0."""
    return [int(score > 0) for score in scores(row)]
'''
_PREDICT_ONE = '''

def predict(row):
    """1 for the label of largest score, else 0."""
    F = scores(row)
    return [int(k == F.index(max(F))) for k in range(len(F))]
'''


def to_python(estimator: Any) -> str:
    """Write a fitted estimator as a Python module without dependencies.

    The module has the functions `scores`, `predict_proba` and `predict` of one row: a sequence of
    numbers, NaN or None where a value is missing; categories are the values themselves. MartiBoost
    has no `scores`.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator of this library.

    Returns
    -------
    str
        The source text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.export import to_python
    >>> X, y = load_iris(return_X_y=True)
    >>> module = {}
    >>> exec(to_python(MARTClassifier(n_estimators=5).fit(X, y)), module)
    >>> module["predict"](X[0])
    0
    """
    contents = contents_of(estimator)
    text = _text(contents)
    _verify(estimator, contents, text)
    return text


def _verify(estimator: Any, contents: Contents, text: str) -> None:
    """Runs the module."""
    check = Verification(estimator, contents, "Python")
    X = check.rows(fractions=True, work=20_000)
    space: dict[str, Any] = {}
    exec(compile(text, "exported", "exec"), space)  # noqa: S102  our own text
    tables = {j: table.tolist() for j, table in contents.tables.items()}
    rows = [_by_value(row, tables) for row in X.tolist()]
    if contents.program is None:
        check.need_scores(X, [space["scores"](row) for row in rows], rtol=0.0)
    labels = [space["predict"](row) for row in rows]
    proba = [space["predict_proba"](row) for row in rows]
    check.need_agreement(X, labels, proba, rtol=1e-12)


def _by_value(row: list[float], tables: dict[int, list[Any]]) -> list[Any]:
    """A row with the values of categories instead of their places; None for strangers."""
    out: list[Any] = list(row)
    for j, table in tables.items():
        known = 0 <= row[j] < len(table) and row[j].is_integer()
        out[j] = table[int(row[j])] if known else None
    return out


def _text(contents: Contents) -> str:
    lines = "\n".join(description(contents, quoted)).replace("\\", "\\\\").replace('"""', '\\"""')
    return "".join(
        [
            f'"""{lines}\n"""\n\nimport math\n\n',
            _constants(contents),
            *(_table(name, *entry) for name, entry in tables(contents).items()),
            "SETS = [set(SET_VALUES[a:b]) for a, b in zip(SET_START[:-1], SET_START[1:])]\n",
            _WALK,
            _functions(contents),
        ]
    )


def _constants(contents: Contents) -> str:
    classes = [quoted_python(label) for label in contents.classes.tolist()]
    out = f"N_FEATURES = {contents.n_features}\nCLASSES = [\n{wrapped(classes, '    ')}\n]\n"
    listed = "".join(
        f"    {j}: [\n{wrapped(map(quoted_python, table.tolist()), '        ')}\n    ],\n"
        for j, table in contents.tables.items()
    )
    out += f"CATEGORIES = {{\n{listed}}}\n" if listed else "CATEGORIES = {}\n"
    out += (
        "CATEGORIES = {j: {v: float(i) for i, v in enumerate(c)} for j, c in CATEGORIES.items()}\n"
    )
    if contents.program is not None:
        return out + f"N_LAYERS = {contents.program.n_layers}\n"
    if contents.link.kind == "vote shares":
        return out + f"SHARPNESS = {contents.link.number!r}\n"
    if contents.link.kind == "label odds":
        return out + f"LOG_ODDS = {contents.link.number!r}\nMULTI_LABEL = {contents.multi_label}\n"
    return out


def quoted_python(value: Any) -> str:
    """A number, a string or a boolean as source code of ASCII characters."""
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "math.inf" if value > 0 else "-math.inf"
    return ascii(plain_value(value))


def _table(name: str, kind: str, values: Any) -> str:
    if len(values) == 0:
        return f"{name} = []\n"
    items = wrapped((number(v, kind, "math.inf") for v in values), "    ")
    return f"{name} = [\n{items}\n]\n"


def _functions(contents: Contents) -> str:
    if contents.program is not None:
        return _PROGRAM
    predict = _PREDICT
    if contents.multi_label:
        predict = _PREDICT_ONE if contents.one_answer else _PREDICT_LABELS
    return _SUM + _SOFTMAX + _LINKS[contents.link.kind] + predict
