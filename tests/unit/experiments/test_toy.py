"""Geist's Figure 7: the paper's settings come first, ours beside them under names of their own."""

from edgewise.experiments import _types, softmax_toy


def built(algorithm):
    return softmax_toy.build(algorithm, 0, rounds=5, layers=3, threads=1)


def test_martiboost_of_the_paper_walks_at_random():
    assert built(softmax_toy.MARTI).routing == "random"
    assert built(softmax_toy.EXPECTED).routing == "expected"


def records(errors):
    """One draw of every noise level, with the errors of all algorithms."""
    found = {}
    for cell in softmax_toy.cells("paper"):
        if cell.seed == 0:
            outcome = {"error": errors[cell.params["algorithm"]]}
            found[cell.name] = _types.Record(
                "softmax-toy", "paper", cell.name, 0, dict(cell.params), None, "", 2, outcome, 0.0
            )
    return found


def test_claims_are_judged_by_the_settings_of_the_paper():
    """Our variants may be perfect: that is no evidence for the paper's algorithms."""
    ours = dict.fromkeys(softmax_toy.OURS, 0.0)
    theirs = dict.fromkeys(softmax_toy.ALGORITHMS, 0.2)
    found = softmax_toy.findings("paper", records(theirs | ours))
    verdicts = {finding.what: finding.verdict for finding in found}
    assert verdicts["sm-boost is perfect up to 30 %"] == "fails"
    assert verdicts["all are perfect without noise"] == "fails"
    assert verdicts["sm-boost is perfect up to 30 %, with our variants"] == "not judged"


def test_tables_tell_how_many_draws_are_perfect():
    found = records({algorithm: 0.0 for algorithm in softmax_toy.LOOKS})
    perfect = softmax_toy.tables("paper", found)[1]
    assert perfect.rows[0] == ["0", *["1 of 1"] * 5]
