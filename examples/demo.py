"""Every algorithm on the digits of scikit-learn, beside what other libraries are installed.

The same as `edgewise compare`: five folds, a table, a verdict on the best two, and a report. A run
that was stopped goes on where it was. Takes about a minute; run it with `make demo`, or with
`python examples/demo.py` where edgewise is installed with the extras cli and report.
"""

import sys

from edgewise.cli import app

if __name__ == "__main__":
    sys.argv[1:] = ["compare", *sys.argv[1:]]
    app()
