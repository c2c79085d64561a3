"""Links of the pages that leave the folder docs: on the site they become names of files."""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)]*)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    depth = page.file.src_uri.count("/")

    def plain(link: re.Match[str]) -> str:
        if link[2].count("../") <= depth:
            return link[0]
        return f"{link[1]} (`{link[3]}`)"

    return _OUTSIDE.sub(plain, markdown)
