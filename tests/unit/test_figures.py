"""Figures in the documents name the commit they were measured on."""

import re
import subprocess

import pytest

figures = pytest.importorskip("benchmarks.figures")


def sections_with_figures():
    """Of docs/benchmarks.md all that have a table or a command; of the README the comparison."""
    found = []
    for document in figures.DOCUMENTS:
        text = (figures.PROJECT / document).read_text()
        parts = re.split(r"^#+ (.*)\n", text, flags=re.MULTILINE)
        for heading, body in zip(parts[1::2], parts[2::2], strict=True):
            measured = "|---" in body or "`python -m benchmarks" in body
            if measured and (document != "README.md" or "peers" in heading):
                found.append((document, heading))
    return found


def test_every_section_with_figures_has_a_mark():
    marks = {(mark.document, mark.section) for mark in figures.marked()}
    wanted = [s for s in sections_with_figures() if s[1] != "Benchmarks"]
    assert len(wanted) >= 9
    assert set(wanted) <= marks


def test_marks_are_commits_of_this_project():
    git = ["git", "-C", str(figures.PROJECT), "rev-parse", "--is-shallow-repository"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    if found.returncode != 0 or found.stdout.strip() != "false":
        pytest.skip("needs a checkout with its whole history")
    for mark in figures.marked():
        assert figures.changes_since(mark.commit) >= 0


def test_figures_older_than_the_core_are_listed(tmp_path, capsys):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        git("add", path)
        git("commit", "-q", "-m", path)
        return git("rev-parse", "--short=9", "HEAD")

    git("init", "-q")
    old = commit("cpp/core/a.cpp", "1")
    new = commit("cpp/core/a.cpp", "2")
    commit("README.md", f"# Speed\n\n<!-- measured: {old} -->\n\nfast\n")
    commit("docs/benchmarks.md", f"# Growth\n\n<!-- measured: {new} -->\n\nslow\n")
    assert figures.main(tmp_path) == 0
    out = capsys.readouterr().out
    assert re.search(rf"README.md:3 +Speed +{old} +1 changes", out)
    assert "Growth" not in out
    assert "1 of 2 are older" in out
