"""A scorer in one file of C99 that needs nothing but the standard library."""

import re
from typing import Any

from .._ground.errors import InvalidParameterError
from ._compiled import verify_c
from ._contents import Contents, contents_of
from ._source import description, number, quoted, tables, wrapped

_WALK = """
/* Whether a value is in a set of categories; NaN is in none. */
static int is_in_set(double value, int set)
{
  int low = SET_START[set], high = SET_START[set + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (SET_VALUES[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low < SET_START[set + 1] && SET_VALUES[low] == value;
}

/* The number of the leaf in which a row ends. */
static int leaf_of(int tree, const double *x)
{
  int root = NODE_START[tree], at = root;
  while (FEATURE[at] >= 0) {
    double value = x[FEATURE[at]];
    int left;
    if (SET_OF_NODE[at] >= 0) left = is_in_set(value, SET_OF_NODE[at]);
    else if (isnan(value)) left = MISSING_LEFT[at];
    else left = value <= THRESHOLD[at];
    at = root + LEFT[at] + !left;
  }
  return LEFT[at];
}
"""

_SUM = """
/* The scores of all classes. */
void @_scores(const double x[], double scores[])
{
  for (int k = 0; k < N_CLASSES; ++k) scores[k] = START[k];
  for (int tree = 0; tree < N_TREES; ++tree) {
    int first = VALUE_START[tree] + leaf_of(tree, x) * WIDTH[tree];
    for (int m = first; m < first + WIDTH[tree]; ++m) scores[CLASSES_MOVED[m]] += VALUES[m];
  }
}
"""

_PROGRAM = """
/* The probabilities that the walk of a row ends in each class. */
void @_probabilities(const double x[], double p[])
{
  double mass[N_LAYERS + 2] = {1.0}, settled = 0.0;
  int first = 0;
  for (int layer = 0; layer < N_LAYERS; ++layer) {
    for (int i = layer; i >= 0; --i) { /* from the right: node i + 1 is done with */
      int tree = first + i;
      if (FROZEN[tree]) {
        settled += mass[i] * RIGHT[2 * tree];
        mass[i] = 0.0;
      } else {
        double right = RIGHT[2 * tree + (VALUES[VALUE_START[tree] + leaf_of(tree, x)] > 0.0)];
        mass[i + 1] += mass[i] * right;
        mass[i] *= 1.0 - right;
      }
    }
    first += layer + 1;
  }
  for (int i = 0; i <= N_LAYERS; ++i)
    settled += (2 * i > N_LAYERS ? 1.0 : 2 * i == N_LAYERS ? 0.5 : 0.0) * mass[i];
  p[0] = 1.0 - settled;
  p[1] = settled;
}

/* The number of the class of a row. */
int @_predict(const double x[])
{
  double p[2];
  @_probabilities(x, p);
  return p[1] - p[0] > 0.0;
}
"""

_SOFTMAX = """
static void softmax(double z[])
{
  double largest = z[0], total = 0.0;
  for (int k = 1; k < N_CLASSES; ++k) largest = z[k] > largest ? z[k] : largest;
  for (int k = 0; k < N_CLASSES; ++k) total += z[k] = exp(z[k] - largest);
  for (int k = 0; k < N_CLASSES; ++k) z[k] /= total;
}
"""

_LINKS = {
    "softmax": """
/* The probabilities of all classes. */
void @_probabilities(const double x[], double p[])
{
  @_scores(x, p);
  softmax(p);
}
""",
    "vote shares": """
/* The probabilities of all classes. */
void @_probabilities(const double x[], double p[])
{
  double total = 0.0;
  @_scores(x, p);
  for (int k = 0; k < N_CLASSES; ++k) total += p[k];
  for (int k = 0; k < N_CLASSES; ++k) p[k] = total > 0.0 ? SHARPNESS * (p[k] / total) : 0.0;
  softmax(p);
}
""",
    "label odds": """
/* The probabilities of all classes. */
void @_probabilities(const double x[], double p[])
{
  @_scores(x, p);
  for (int k = 0; k < N_CLASSES; ++k) {
    double z = LOG_ODDS - 2.0 * p[k];
    p[k] = -((z > 0.0 ? z : 0.0) + log1p(exp(-fabs(z)))); /* log P */
  }
  NORMALISE
}
""",
}

_PREDICT = """
/* The number of the class of a row: of the largest score, the first of equals. */
int @_predict(const double x[])
{
  double scores[N_CLASSES];
  int best = 0;
  @_scores(x, scores);
  for (int k = 1; k < N_CLASSES; ++k)
    if (scores[k] > scores[best]) best = k;
  return best;
}
"""
_PREDICT_LABELS = """
/* For each label 1 if the row has it, else 0. */
void @_predict(const double x[], int labels[])
{
  double scores[N_CLASSES];
  @_scores(x, scores);
  for (int k = 0; k < N_CLASSES; ++k) labels[k] = scores[k] > 0.0;
}
"""
_PREDICT_ONE = """
/* 1 for the label of largest score, else 0. */
void @_predict(const double x[], int labels[])
{
  double scores[N_CLASSES];
  int best = 0;
  @_scores(x, scores);
  for (int k = 1; k < N_CLASSES; ++k)
    if (scores[k] > scores[best]) best = k;
  for (int k = 0; k < N_CLASSES; ++k) labels[k] = k == best;
}
"""


def to_c(estimator: Any, *, prefix: str = "model") -> str:
    """Write a fitted estimator as a C99 source file.

    Its functions take one row of doubles, NaN where a value is missing: PREFIX_scores(x, scores),
    PREFIX_probabilities(x, p) and PREFIX_predict(x), which returns the number of the class in
    PREFIX_classes. For an indicator matrix as y it is PREFIX_predict(x, labels). MartiBoost has no
    scores. Link with the mathematical library, and compile without -ffast-math, which ignores NaN.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator of this library.
    prefix : str, default='model'
        Beginning of all names in the file.

    Returns
    -------
    str
        The source text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.export import to_c
    >>> model = MARTClassifier(n_estimators=2).fit(*load_iris(return_X_y=True))
    >>> "iris_predict" in to_c(model, prefix="iris")
    True
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise InvalidParameterError(
            f"The 'prefix' of to_c must be a name of C, of letters, digits and _. Got {prefix!r}."
        )
    contents = contents_of(estimator)
    text = _text(contents, prefix)
    verify_c(estimator, contents, text, prefix)
    return text


def _text(contents: Contents, prefix: str) -> str:
    lines = (line.replace("*/", "*\\/") for line in description(contents, quoted))
    comment = "\n".join(f" * {line}".rstrip() for line in lines)
    return "".join(
        [
            f"/*\n{comment}\n */\n\n#include <math.h>\n\n",
            _constants(contents, prefix),
            *(_table(name, *entry) for name, entry in tables(contents).items()),
            _WALK,
            _functions(contents).replace("@", prefix),
        ]
    )


def _constants(contents: Contents, prefix: str) -> str:
    sizes = {"N_FEATURES": contents.n_features, "N_CLASSES": contents.n_classes}
    sizes["N_TREES"] = contents.trees.n_trees
    if contents.program is not None:
        sizes["N_LAYERS"] = contents.program.n_layers
    listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    labels = wrapped(_string(str(label)) for label in contents.classes.tolist())
    out = f"enum {{ {listed} }};\n\n"
    out += f"const char *const {prefix}_classes[N_CLASSES] = {{\n{labels}\n}};\n\n"
    names = {"vote shares": "SHARPNESS", "label odds": "LOG_ODDS"}
    if contents.link.kind in names:
        out += f"static const double {names[contents.link.kind]} = {contents.link.number!r};\n"
    return out


def _string(text: str) -> str:
    """A string literal: what is not plain ASCII as octal numbers of its UTF-8 bytes."""
    plain = set(range(32, 127)) - set(b'"\\?')
    body = "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode())
    return f'"{body}"'


def _table(name: str, kind: str, values: Any) -> str:
    items = [number(v, kind, "INFINITY") for v in values] or ["0"]  # C has no empty arrays
    return f"static const {kind} {name}[] = {{\n{wrapped(items)}\n}};\n"


def _functions(contents: Contents) -> str:
    if contents.program is not None:
        return _PROGRAM
    predict = _PREDICT
    if contents.multi_label:
        predict = _PREDICT_ONE if contents.one_answer else _PREDICT_LABELS
    many = contents.multi_label
    normalise = "for (int k = 0; k < N_CLASSES; ++k) p[k] = exp(p[k]);" if many else "softmax(p);"
    link = _LINKS[contents.link.kind].replace("NORMALISE", normalise)
    softmax = "" if "softmax(p)" not in link else _SOFTMAX
    return _SUM + softmax + link + predict
