"""Run the code of docs/gallery.md, which writes its pictures: python docs/gallery.py."""

import os
import re
from pathlib import Path

import matplotlib

DOCS = Path(__file__).resolve().parent
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

if __name__ == "__main__":
    matplotlib.use("agg")
    os.chdir(DOCS / "images")
    names: dict[str, object] = {}
    for code in CODE.findall((DOCS / "gallery.md").read_text(encoding="utf-8")):
        exec(code, names)
