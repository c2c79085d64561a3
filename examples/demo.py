"""Every algorithm on scikit-learn's digits, and the other libraries that are installed.

The same as `edgewise compare`: five folds, a table, a test of the best two, and a report. A stopped
run resumes. It takes about a minute; run it with `make demo`, or with `python examples/demo.py` if
edgewise is installed with the extras cli and report.
"""

import sys

from edgewise.cli import app

if __name__ == "__main__":
    sys.argv[1:] = ["compare", *sys.argv[1:]]
    app()
