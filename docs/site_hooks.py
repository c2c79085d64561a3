"""Links that leave the folder docs become names of files on the site."""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)]*)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    depth = page.file.src_uri.count("/")

    def plain(link: re.Match[str]) -> str:
        if link[2].count("../") <= depth:
            return link[0]
        words, path = link[1], link[3].partition("#")[0]
        if path.endswith(words):  # the words are the name of the file
            return f"`{path}`"
        return f"{words} (`{path}`)"

    return _OUTSIDE.sub(plain, markdown)
