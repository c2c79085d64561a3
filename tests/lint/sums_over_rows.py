"""A lint rule: no sum of floats in the code of fits may depend on the order of the rows or on BLAS.

    python tests/lint/sums_over_rows.py [SOURCE_FOLDER]

Matrix products, sums and means over rows (``axis=0``) or over everything, ``np.add.at`` and a
weighted ``np.bincount`` are refused, unless EXCEPTIONS says why they are harmless.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "edgewise"
# Everything is covered, new packages too, but for those that take no part in a fit.
NO_FITS = {
    *("_tools", "cli", "comparison", "experiments", "export", "lab", "metrics", "plot"),
    *("reference", "report", "tables", "tuning"),
}

PRODUCTS = {"dot", "einsum", "inner", "matmul", "tensordot", "vdot"}
SUMS = {"average", "mean", "nanmean", "nansum", "sum"}

FOR_PRODUCTS = "ordered_product or ordered_sum of edgewise._ground.sums"
FOR_SUMS = "math.fsum, exact_sums of edgewise._ground.sums, integers, or the core"

LABORATORY = "for the laboratory and trees of other libraries"
LEAVES = "over leaves, in their order"
SKLEARN = "the arithmetic of scikit-learn, whose trees depend on the order of the rows anyway"

SORTED = "rows were sorted by their content"

# (file, function): (how many, why)
EXCEPTIONS = {
    ("_auto/columns.py", "_column"): (1, SORTED),
    ("_auto/expected.py", "expected"): (5, SORTED),
    ("_auto/expected.py", "_slope"): (3, SORTED),
    ("_auto/folds.py", "group_folds"): (1, "integers"),
    ("_auto/held_out.py", "_in_order"): (1, "weights of equal rows were sorted"),
    ("_auto/held_out.py", "group_numbers"): (1, "a count, for a message"),
    ("_auto/linear.py", "fitted_linear"): (1, "over classes"),
    ("_auto/members.py", "start_scores"): (1, "over classes"),
    ("_boosting/base.py", "Booster.feature_importances_"): (1, "over features, in their order"),
    ("_boosting/calibration.py", "Scaling.temperature.loss"): (1, "over classes"),
    ("_boosting/calibration.py", "Scaling.vector.loss"): (1, "over classes"),
    ("_boosting/calibration.py", "Scaling._loss"): (3, SORTED),
    ("_boosting/grower.py", "Engine.loss"): (1, "over classes"),
    ("_boosting/validation.py", "minus_log_loss.score"): (2, SORTED),
    ("_data/groups.py", "_sums"): (1, "integers"),
    ("_data/groups.py", "_Labels.of"): (1, "integers"),
    ("_data/groups.py", "_Counts.frequencies"): (2, "integers"),
    ("_data/groups.py", "_Counts.correlation"): (6, "over categories and classes, in their order"),
    ("_data/groups.py", "_best_cut"): (3, "integers"),
    ("_data/soft.py", "soft_labels"): (1, "for a message"),
    ("_data/targets.py", "labels"): (1, "counts"),
    ("_families/best_votes.py", "mass_of"): (1, LABORATORY),
    ("_families/best_votes.py", "_as_promised"): (1, LABORATORY),
    ("_families/best_votes.py", "_bracket"): (1, LABORATORY),
    ("_families/best_votes.py", "_relaxation"): (1, LABORATORY),
    ("_families/best_votes.py", "_dual_bound"): (2, LABORATORY),
    ("_families/best_votes.py", "_ascend"): (2, LABORATORY),
    ("_families/best_votes.py", "_times"): (1, LABORATORY),
    ("_families/coefficients.py", "_with_edge"): (1, LEAVES),
    ("_families/coefficients.py", "binary"): (2, LEAVES),
    ("_families/coefficients.py", "sum_by"): (1, "over leaves, one after the other"),
    ("_families/logistic.py", "LogisticBooster._start"): (1, "over classes"),
    ("_families/mh_bases.py", "root_votes"): (1, LEAVES),
    ("_families/mh_bases.py", "edge_of"): (1, LEAVES),
    ("_families/mh_bases.py", "AnyClassifier.learn"): (2, SKLEARN),
    ("_families/mh_bases.py", "AnyClassifier._binary"): (1, SKLEARN),
    ("_ground/checks.py", "need_unmasked"): (1, "a count, for a message"),
    ("_model/check.py", "_check_numbers"): (1, "over the trees of a file, in their order"),
    ("_model/described.py", "node_columns"): (1, "over nodes, in their order"),
    ("_model/explained.py", "Explained.feature_importances_by_class_"): (1, "over features"),
    ("_model/model.py", "Model.gain_by_feature"): (1, "over nodes, in their order"),
    ("decide/_costs.py", "decide_by_cost"): (2, "over classes, row by row"),
    ("decide/_distill.py", "_figures"): (1, "counts"),
    ("decide/_metrics.py", "accuracy"): (1, "over classes"),
    ("decide/_offsets.py", "_counts"): (1, SORTED),
    ("decide/_offsets.py", "_counts.total"): (1, SORTED),
    ("decide/_offsets.py", "_search"): (2, SORTED),
    ("decide/_priors.py", "check_priors"): (2, "over classes"),
    ("decide/_priors.py", "estimate_priors"): (2, "rows were sorted; over classes"),
    ("distributed/_exact.py", "exact_sum"): (2, "integers"),
    ("distributed/_facts.py", "add_part_facts"): (1, "integers"),
    ("distributed/_holdout.py", "_codes"): (1, "integers"),
    ("distributed/_logistic.py", "LogisticState._draw"): (1, "a count"),
    ("distributed/_logistic.py", "LogisticEngine.loss"): (1, "over classes"),
    ("distributed/_rows.py", "_class_factors"): (1, "integers"),
    ("distributed/_rows.py", "gather_rows"): (2, "integers"),
    ("distributed/_rows.py", "need_rows"): (1, "integers"),
    ("martiboost.py", "MartiBoostClassifier._grow"): (1, "over the nodes of a layer, row by row"),
    ("_families/label_rules.py", "best_of_labels"): (2, "over labels"),
    ("_families/label_rules.py", "counts_by_threshold"): (1, "over cells, label by label"),
    ("_families/label_rules.py", "counts_of"): (1, "of rows that have an order of their own"),
    ("newton_boost.py", "LossEngine._weighted"): (1, "counts, for a message"),
    ("ordinal_boost.py", "Steps.of_thresholds"): (2, LEAVES),
    ("ordinal_boost.py", "leaf_sums"): (1, "of numbers on a grid so coarse that sums are exact"),
    ("samme.py", "SAMMEEngine.learn"): (2, LEAVES),
    ("samme.py", "MemberEngine.__init__"): (1, SKLEARN),
    ("samme.py", "MemberEngine.learn"): (1, SKLEARN),
    ("samme.py", "MemberEngine.add"): (1, SKLEARN),
    ("samme.py", "MemberEngine.loss"): (1, SKLEARN),
    ("softmax_boost.py", "SoftmaxRule._project"): (1, LEAVES),
}


def over_rows(call, first):
    """Whether a sum goes over the first axis or over everything; `first`: arguments before axis."""
    given = [k.value for k in call.keywords if k.arg == "axis"] or call.args[first : first + 1]
    return not given or (isinstance(given[0], ast.Constant) and given[0].value in (0, None))


def replacement(node):
    """What to write instead of an expression; None if there is nothing wrong with it."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return FOR_PRODUCTS if isinstance(node.op, ast.MatMult) else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name, owner = node.func.attr, node.func.value
    if name in PRODUCTS:
        return FOR_PRODUCTS
    if name in ("at", "reduce"):
        is_wrong = isinstance(owner, ast.Attribute) and owner.attr == "add"
    elif name == "bincount":
        is_wrong = len(node.args) > 1 or any(k.arg == "weights" for k in node.keywords)
    else:
        is_function = isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
        is_wrong = name in SUMS and over_rows(node, first=int(is_function))
    return FOR_SUMS if is_wrong else None


def findings(text):
    """(function, line, replacement) of everything in a source that may depend on row order."""
    found = []

    def visit(node, where):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            where = [*where, node.name]
        instead = replacement(node)
        if instead is not None:
            found.append((".".join(where), node.lineno, instead))
        for child in ast.iter_child_nodes(node):
            visit(child, where)

    visit(ast.parse(text), [])
    return found


def sources(package):
    files = package.rglob("*.py")
    return sorted(p for p in files if p.relative_to(package).parts[0] not in NO_FITS)


def complaints(package):
    """One line for every expression that no exception covers, and every exception without one."""
    found = defaultdict(list)
    for path in sources(package):
        for function, line, instead in findings(path.read_text(encoding="utf-8")):
            found[path.relative_to(package).as_posix(), function].append((line, instead))
    for key in sorted(found.keys() | EXCEPTIONS.keys()):
        file, function = key
        allowed = EXCEPTIONS.get(key, (0, ""))[0]
        if len(found[key]) < allowed:
            yield f"{file}: {function}: {allowed} exceptions, but {len(found[key])} are needed"
        elif len(found[key]) > allowed:
            for line, instead in found[key]:
                yield (
                    f"{file}:{line}: {function}: depends on the order of rows or on BLAS; use "
                    f"{instead} (or say in {Path(__file__).name} why it is harmless)"
                )


if __name__ == "__main__":
    said = list(complaints(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE))
    print("\n".join(said) or "Sums over rows: nothing to complain about.")
    sys.exit(bool(said))
