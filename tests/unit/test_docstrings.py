"""Every public class and function is documented: parameters, defaults, examples that run."""

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import edgewise
from edgewise._ground.documented import documented, entries, sections

MODULES = """edgewise edgewise.losses edgewise.metrics edgewise.export edgewise.plot edgewise.report
edgewise.tables edgewise.tuning edgewise.comparison edgewise.decide""".split()

ESTIMATORS = [name for name in edgewise.__all__ if name.endswith("Classifier")]


def public(module: str) -> Iterator[tuple[str, Any]]:
    home = importlib.import_module(module)
    own = [n for n, v in vars(home).items() if getattr(v, "__module__", "") == module]
    for name in getattr(home, "__all__", own):
        thing = getattr(home, name)
        if (
            not name.startswith("_")
            and callable(thing)
            and getattr(thing, "__module__", "").startswith("edgewise")
        ):
            yield f"{module}.{name}", thing


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class that this package defines."""
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        method = getattr(method, "__func__", method)
        if (
            not name.startswith("_")
            and inspect.isfunction(method)
            and method.__module__.startswith("edgewise")
        ):
            yield name, method


def described(thing: Any) -> dict[str, Any]:
    found = sections(inspect.getdoc(thing) or "")
    return entries(found.get("Parameters", "")) | entries(found.get("Attributes", ""))


def parameters(thing: Any) -> dict[str, inspect.Parameter]:
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return {}
    if getattr(thing, "_is_protocol", False):
        return {}
    signature = inspect.signature(thing)
    return {name: p for name, p in signature.parameters.items() if name not in ("self", "cls")}


def undocumented(name: str, thing: Any) -> list[str]:
    known = described(thing)
    return [f"{name}({p})" for p in parameters(thing) if p not in known]


def everything() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name, thing in public(module):
            yield name, thing
            if inspect.isclass(thing):
                for method, function in methods(thing):
                    yield f"{name}.{method}", function


def test_no_public_parameter_is_undocumented():
    missing = [p for name, thing in everything() for p in undocumented(name, thing)]
    assert missing == []


def test_everything_public_has_a_summary_of_one_line():
    for name, thing in everything():
        doc = inspect.getdoc(thing)
        assert doc, name
        summary = doc.split("\n\n")[0]
        assert "\n" not in summary, f"{name}: {summary}"
        assert summary.endswith((".", ":")), f"{name}: {summary}"


def test_a_new_parameter_without_a_description_is_found():
    class Careless(edgewise.MARTClassifier):
        """A booster with a parameter that nobody described."""

        def __init__(self, *, n_estimators: int = 7, forgotten: int = 1) -> None:
            self.n_estimators = n_estimators
            self.forgotten = forgotten

    assert undocumented("Careless", documented(Careless)) == ["Careless(forgotten)"]
    described_once = 'n_estimators : int or "auto", default=7\n    Number of boosting rounds.'
    assert described_once in Careless.__doc__


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_stand_in_the_order_of_the_constructor_with_its_defaults(name):
    cls = getattr(edgewise, name)
    text = sections(cls.__doc__)["Parameters"]
    heads = re.findall(r"^(\w+) : (.+)$", text, re.MULTILINE)
    wanted = parameters(cls)
    assert [head for head, _ in heads] == list(wanted)
    for head, kind in heads:
        default = wanted[head].default
        if default is not inspect.Parameter.empty:
            assert kind.endswith(f", default={default!r}")


def test_defaults_of_functions_are_those_of_their_signatures():
    for name, thing in everything():
        if inspect.isclass(thing):
            continue
        text = sections(inspect.getdoc(thing) or "").get("Parameters", "")
        for head, kind in re.findall(r"^(\w+) : (.+)$", text, re.MULTILINE):
            default = inspect.signature(thing).parameters[head].default
            if default is inspect.Parameter.empty:
                assert "default=" not in kind, f"{name}({head})"
            elif not isinstance(default, type):
                assert kind.endswith(f", default={default!r}"), f"{name}({head}): {default!r}"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_attributes_of_a_fit_are_documented(name):
    """What fit leaves, as far as it is public; TruthTableClassifier is tested beside its own."""
    cls = getattr(edgewise, name)
    known = entries(sections(cls.__doc__)["Attributes"])
    if name == "TruthTableClassifier":
        assert {"beta_", "tables_", "classes_"} <= set(known)
        return
    X = [[float(i % 7), float(i % 5)] for i in range(60)]
    y = [i % 7 > 3 for i in range(60)]
    fitted = cls().fit(X, y)
    left = {a for a in vars(fitted) if a.endswith("_") and not a.startswith("_")}
    assert left <= set(known)


EXAMPLES = [
    (name, test)
    for module in MODULES
    for name, thing in public(module)
    for test in doctest.DocTestFinder(recurse=False).find(thing, name)
    if test.examples
]


@pytest.mark.parametrize("test", [t for _, t in EXAMPLES], ids=[n for n, _ in EXAMPLES])
def test_examples_run(test):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


def test_every_public_function_and_estimator_has_an_example():
    with_examples = {name for name, _ in EXAMPLES}
    for module in MODULES:
        for name, thing in public(module):
            if inspect.isfunction(thing) or name.endswith(("Classifier", "Display")):
                assert name in with_examples, name
