"""Links that leave the folder docs become names of files; the search prefers pages for readers."""

import re
from pathlib import Path
from typing import Any

_BOOST = {"faq.md": 4, "tutorial.md": 2, "auto_boost.md": 2}
_TABLE = "[A comparison of all defaults on 27 tables](../README.md#beside-its-peers)"
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)]*)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    uri = page.file.src_uri
    depth = uri.count("/")
    if uri.startswith("results/"):  # tables of figures would bury the guide
        page.meta["search"] = {"exclude": True}
    elif uri.startswith(("answers/", "api_")):
        page.meta["search"] = {"boost": 0.5}
    elif uri in _BOOST:
        page.meta["search"] = {"boost": _BOOST[uri]}

    markdown = markdown.replace(_TABLE, _table_of_the_readme()) if uri == "index.md" else markdown

    def plain(link: re.Match[str]) -> str:
        if link[2].count("../") <= depth:
            return link[0]
        words, path = link[1], link[3].partition("#")[0]
        if path.endswith(words):  # the words are the name of the file
            return f"`{path}`"
        return f"{words} (`{path}`)"

    return _OUTSIDE.sub(plain, markdown)


def _table_of_the_readme() -> str:
    """The comparison of defaults, which stands only in the README."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    section = readme.split("\n## Beside its peers\n")[1].split("\n## ")[0]
    return section.replace("](docs/", "](")
