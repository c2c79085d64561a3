"""The examples in the documents of the laboratory do what they say."""

import doctest
from pathlib import Path

import pytest

from edgewise.lab import dynamics

DOCS = Path(__file__).parents[3] / "docs"


def test_examples_of_the_page_on_dynamics():
    results = doctest.testfile(str(DOCS / "lab_dynamics.md"), module_relative=False)
    assert results.attempted > 20
    assert results.failed == 0


def test_example_of_the_module():
    results = doctest.testmod(dynamics)
    assert results.attempted
    assert results.failed == 0


@pytest.mark.parametrize("picture", sorted(DOCS.glob("images/lab_*.png")), ids=lambda p: p.name)
def test_pictures_are_small_and_used(picture):
    assert picture.stat().st_size < 150_000
    assert f"images/{picture.name}" in "".join(page.read_text() for page in DOCS.glob("lab_*.md"))


def test_public_names_are_documented():
    for name in dynamics.__all__:
        member = getattr(dynamics, name)
        if callable(member):
            assert member.__doc__, name
    page = (DOCS / "lab_dynamics.md").read_text()
    functions = [name for name in dynamics.__all__ if name[0].islower()]
    assert [name for name in functions if f"`{name}" not in page] == []
