"""Text of files on a terminal: what would steer it is shown as an escape."""

import re

# Control characters but line feed and tab, what reverses text, and halves of surrogate pairs.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with escapes as JSON has them in the place of steering characters."""
    return _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
