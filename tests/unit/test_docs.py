"""What the documents say about parameters and files is so."""

import inspect
import re
from pathlib import Path

import pytest
from support import CLASSIFIERS, LOGISTIC

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = {
    "MARTClassifier": "mart",
    "ABCMARTClassifier": "abc_mart",
    "LogitBoostClassifier": "logitboost",
    "ABCLogitBoostClassifier": "abc_logitboost",
    "AOSOLogitBoostClassifier": "aoso_logitboost",
    "AdaBoostMHClassifier": "adaboost_mh",
    "SAMMEClassifier": "samme",
    "SoftmaxBoostClassifier": "softmax_boost",
}
LOGISTIC_ONLY = {"init"}  # on the shared page, but not a parameter of the boosters that vote
ROW = re.compile(r"^\| `(\w+)` \| `([^`]+)` \|", re.MULTILINE)  # | `parameter` | `default` |
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: e.__name__)
def test_every_parameter_is_documented_with_its_default(estimator):
    shared = ROW.findall((DOCS / "parameters.md").read_text())
    own = ROW.findall((DOCS / f"{PAGES[estimator.__name__]}.md").read_text())
    written = {name: default.replace('"', "'") for name, default in [*shared, *own]}
    if estimator not in LOGISTIC:
        written = {name: written[name] for name in written.keys() - LOGISTIC_ONLY}
    signature = inspect.signature(estimator).parameters.values()
    assert written == {p.name: repr(p.default) for p in signature}


@pytest.mark.parametrize("page", [*PROJECT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda p: p.name)
def test_links_lead_to_files(page):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert missing == []
