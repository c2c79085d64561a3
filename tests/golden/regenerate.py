"""Writes expected.json anew from the installed package: one line for each fit."""

import json

from test_golden import DATA, ESTIMATORS, EXPECTED, figures


def lines():
    yield "{"
    for data in DATA:
        yield f"{json.dumps(data)}: {{"
        yield ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(figures(data, name))}" for name in ESTIMATORS
        )
        yield "}" if data == list(DATA)[-1] else "},"
    yield "}"


if __name__ == "__main__":
    EXPECTED.write_text("\n".join(lines()) + "\n", encoding="utf-8")
