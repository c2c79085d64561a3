"""The JavaScript of a report: Vega, Vega-Lite and Vega-Embed out of an installed package.

vl-convert-python has them inside and joins them without a network, so a report needs none either,
and no foreign code lies in this repository.
"""

import base64
import hashlib
from functools import cache

MISSING = (
    "Reports need jinja2 and vl-convert-python: install them, or edgewise with the extra 'report'."
)


@cache
def vega() -> str:
    """A script that puts `vegaEmbed` into the window; joining it takes a few seconds, once."""
    try:
        import vl_convert  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(MISSING) from None
    script: str = vl_convert.javascript_bundle()
    if "</script" in script.lower():
        raise RuntimeError("The script of vl-convert-python cannot stand inside a page.")
    return script


def source_hash(script: str) -> str:
    """By which a page's security policy allows this inline script, and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
