"""What the documents say about parameters, files and figures is so."""

import inspect
import re
from pathlib import Path

import pytest
from support import CLASSIFIERS, EVERY_CLASSIFIER, table

from edgewise._families.logistic import LogisticBooster

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = {
    "AutoBoostClassifier": "auto_boost",
    "MARTClassifier": "mart",
    "ABCMARTClassifier": "abc_mart",
    "LogitBoostClassifier": "logitboost",
    "ABCLogitBoostClassifier": "abc_logitboost",
    "AOSOLogitBoostClassifier": "aoso_logitboost",
    "NewtonBoostClassifier": "losses",
    "OrdinalBoostClassifier": "ordinal_boost",
    "MultiLabelBoostClassifier": "multi_label_boost",
    "AdaBoostMHClassifier": "adaboost_mh",
    "SAMMEClassifier": "samme",
    "SoftmaxBoostClassifier": "softmax_boost",
    "MartiBoostClassifier": "martiboost",
}
VOTERS = [c for c in EVERY_CLASSIFIER if not issubclass(c, LogisticBooster)]
ROW = re.compile(r"^\| `(\w+)` \| `([^`]+)` \|", re.MULTILINE)  # | `parameter` | `default` |
TOLD = re.compile(r"^\| `(\w+)` \| [^`|]", re.MULTILINE)  # | `name` | what it is |
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(
    r"^(\w+) = .*# ([\d.]+(?:e-?\d+)?|True|False)\b", re.MULTILINE
)  # x = ...  # 0.97


def page_of(estimator):
    return (DOCS / f"{PAGES[estimator.__name__]}.md").read_text()


def section(text, heading):
    """What stands under a heading of the second level; before the first, for no heading."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))[heading]


def shared_rows(estimator):
    """Rows of the page of parameters; those of a family replace the first."""
    if estimator not in CLASSIFIERS:  # has no rounds: all is on its own page
        return []
    text = (DOCS / "parameters.md").read_text()
    family = (
        "The logistic family"
        if issubclass(estimator, LogisticBooster)
        else "The boosters that vote"
    )
    rows = [*ROW.findall(section(text, "")), *ROW.findall(section(text, family))]
    if estimator.__name__ == "MultiLabelBoostClassifier":  # no direction of labels is constrained
        rows = [row for row in rows if row[0] != "monotonic_cst"]
    return rows


@pytest.mark.parametrize("estimator", EVERY_CLASSIFIER, ids=lambda e: e.__name__)
def test_every_parameter_is_documented_with_its_default(estimator):
    rows = [*shared_rows(estimator), *ROW.findall(page_of(estimator))]
    written = {name: default.replace('"', "'") for name, default in rows}
    signature = inspect.signature(estimator).parameters.values()
    assert written == {p.name: repr(p.default) for p in signature}


@pytest.mark.parametrize("estimator", VOTERS, ids=lambda e: e.__name__)
def test_history_is_documented(estimator):
    rounds = {"n_estimators": 2} if estimator in CLASSIFIERS else {}
    history = estimator(**rounds).fit(*table(0, n=60, K=2)).history_
    assert set(TOLD.findall(section(page_of(estimator), "Contents of `history_`"))) == set(history)


def pages_with_figures():
    return [page for page in DOCS.glob("*.md") if FIGURE.search(page.read_text())]


@pytest.mark.parametrize("page", pages_with_figures(), ids=lambda p: p.name)
def test_examples_give_the_figures_beside_them(page):
    for code in CODE.findall(page.read_text()):
        names = {}
        exec(code, names)
        for name, figure in FIGURE.findall(code):
            expected = figure == "True" if figure in ("True", "False") else float(figure)
            assert names[name] == pytest.approx(expected, rel=0.01), name


@pytest.mark.parametrize("page", [*PROJECT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda p: p.name)
def test_links_lead_to_files(page):
    words = CODE.sub("", page.read_text())
    targets = [t for t in LINK.findall(words) if "://" not in t]
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert missing == []


def test_features_are_backed_by_tests_that_exist():
    """docs/features.md names a test for every feature of ours."""
    rows = [
        row for row in (PROJECT / "docs/features.md").read_text().splitlines() if row[:2] == "| "
    ]
    ours = [row.split("|")[2].strip() for row in rows if row.split("|")[2].strip() != "edgewise"]
    assert len(ours) > 30
    for cell in ours:
        if cell == "-":
            continue
        (named,) = re.findall(r"`(tests/[^`]+)`", cell)
        path, name = named.split("::")
        assert f"def {name}(" in (PROJECT / path).read_text(), named
