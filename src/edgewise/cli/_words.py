"""Text of files on a terminal: control characters are shown as escapes."""

import re

# Control characters but line feed and tab, what reverses text, and halves of surrogate pairs.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return the text with control characters replaced by JSON escapes."""
    return _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
