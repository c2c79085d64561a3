"""C scorers, compiled and run for their verification, where there is a compiler."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .._ground.errors import ModelFormatError
from ._contents import Contents
from ._verified import Verification

TIME_LIMIT = 120  # seconds, for the compiler and for the program
_NOTHING = "#include <math.h>\n#include <stdio.h>\nint main(void) { return 0; }\n"

# Reads rows of doubles; writes of each its label or labels, probabilities and scores, as doubles.
_MAIN = """
#include <stdio.h>

int main(void)
{
  double x[N_FEATURES], p[N_CLASSES];
  while (fread(x, sizeof(double), N_FEATURES, stdin) == N_FEATURES) {
    LABELS
    @_probabilities(x, p);
    fwrite(p, sizeof(double), N_CLASSES, stdout);
    SCORES
  }
  return 0;
}
"""
_ONE_LABEL = "double k = @_predict(x); fwrite(&k, sizeof(double), 1, stdout);"
_LABELS = """int labels[N_CLASSES];
    @_predict(x, labels);
    for (int k = 0; k < N_CLASSES; ++k) {
      double said = labels[k];
      fwrite(&said, sizeof(double), 1, stdout);
    }"""
_SCORES = "@_scores(x, p); fwrite(p, sizeof(double), N_CLASSES, stdout);"


def verify_c(estimator: Any, contents: Contents, text: str, prefix: str) -> None:
    """Compiles the text and runs it, if there is a C compiler that works."""
    check = Verification(estimator, contents, "the compiled program")
    X = check.rows(fractions=True)
    said = run_c(contents, text, prefix, X)
    if said is None:
        return
    labels, proba, scores = said
    check.need_agreement(X, labels, proba, rtol=1e-12)
    if contents.program is None:
        check.need_scores(X, scores, rtol=0.0)


def run_c(contents: Contents, text: str, prefix: str, X: Any) -> tuple[Any, Any, Any] | None:
    """Labels, probabilities and scores of rows; None if programs cannot be compiled or run."""
    compiler = _compiler()
    if compiler is None:
        return None
    main = _MAIN.replace("LABELS", _LABELS if contents.multi_label else _ONE_LABEL)
    main = main.replace("SCORES", "" if contents.program is not None else _SCORES)
    out = _answers(compiler, text + main.replace("@", prefix), X)
    if out is None:
        return None
    said, K = out.reshape(len(X), -1), contents.n_classes
    n_labels = K if contents.multi_label else 1
    labels = said[:, :n_labels].astype(int)
    if not contents.multi_label:
        labels = contents.classes[labels[:, 0]]
    return labels, said[:, n_labels : n_labels + K], said[:, n_labels + K :]


def _compiler() -> str | None:
    if os.name != "posix":
        return None
    configured = (sysconfig.get_config_var("CC") or "cc").split()[:1]
    return next(filter(None, map(shutil.which, ["cc", "gcc", "clang", *configured])), None)


def _answers(compiler: str, text: str, X: Any) -> Any:
    """Return the output of the program; None if programs cannot be compiled or run here."""
    with tempfile.TemporaryDirectory(prefix="edgewise-") as folder:
        program = Path(folder) / "scorer"
        try:
            words = _compiled(compiler, text, program)
            if words is not None:
                if _compiled(compiler, _NOTHING, program) is not None:
                    return None
                raise ModelFormatError(
                    f"The C export was refused by {compiler}, and nothing was written. Please "
                    f"report this; the first words were: {words[:300]}"
                )
            ran = subprocess.run(  # noqa: S603  our own program
                [program], input=X.tobytes(), capture_output=True, timeout=TIME_LIMIT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):  # no room, no right to execute, no time
            return None
    if ran.returncode != 0:
        raise ModelFormatError(
            f"The program of the C export ended with {ran.returncode}, and nothing was written. "
            "Please report this."
        )
    return np.frombuffer(ran.stdout)


def _compiled(compiler: str, text: str, program: Path) -> str | None:
    """Compile a text; return the compiler's message if it fails."""
    source = program.with_suffix(".c")
    source.write_text(text, encoding="ascii", errors="backslashreplace")
    done = subprocess.run(  # noqa: S603  found in the path
        [compiler, "-std=c99", "-O0", "-ffp-contract=off", "-o", program, source, "-lm"],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    return None if done.returncode == 0 else done.stderr
