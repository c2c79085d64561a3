"""The JavaScript of a report: Vega, Vega-Lite and Vega-Embed out of an installed package.

vl-convert-python contains them and bundles them without a network, so a report needs no network
either, and this repository contains no code of others.
"""

import base64
import hashlib
from functools import cache

MISSING = (
    "Reports need jinja2 and vl-convert-python: install them, or edgewise with the extra 'report'."
)


@cache
def vega() -> str:
    """Return a script that defines `vegaEmbed`; bundling it takes a few seconds, once."""
    try:
        import vl_convert  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(MISSING) from None
    script: str = vl_convert.javascript_bundle()
    if "</script" in script.lower():
        raise RuntimeError("The script of vl-convert-python cannot stand inside a page.")
    return script


def source_hash(script: str) -> str:
    """Return the hash by which a page's security policy allows only this inline script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
