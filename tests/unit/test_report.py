"""Reports: the figures in the page are the metrics', and no label is ever markup."""

import html
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, f1_score, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support import VARIANTS, table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, decide, metrics, report
from edgewise.report import _bundle, _data, _page
from edgewise.report._evidence import Labelled

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'


class Read(HTMLParser):
    """A page as tags, tables (lists of rows of words) and the charts' specifications."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.tables, self.headings, self.words = [], [], [], []
        self._open = []
        self.charts = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "img", "br"):
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if not self._open:
            return
        if self._open[-1] == "script" and self.tags[-1][1].get("id") == "charts":
            self.charts = {chart["id"]: chart["spec"] for chart in json.loads(data)}
        elif self._open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
        elif self._open[-1] == "h2":
            self.headings[-1] += data
        elif self._open[-1] not in ("script", "style"):
            self.words.append(data)

    def table(self, *head):
        return next(t for t in self.tables if t[0][: len(head)] == list(head))


@pytest.fixture(scope="module", autouse=True)
def small_bundle():
    """Joining the real script takes seconds and is for the browser's tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_page, "vega", lambda: "window.vegaEmbed = null;")
        yield


@pytest.fixture(scope="module")
def fitted():
    X, y = table(0, n=300, noise=0.2)
    y = np.array(["low", "middle", "high"])[y]
    model = edgewise.AdaBoostMHClassifier(n_estimators=15).fit(X[:200], y[:200])
    return model, X, y


@pytest.fixture(scope="module")
def made(fitted):
    model, X, y = fitted
    return Read(model.report(X[200:], y[200:], X_train=X[:200], y_train=y[:200]).html)


ALL = [
    "Findings",
    "Figures",
    "Learning curves",
    "Confusions",
    "Reliability",
    "Margins",
    "Importances",
    "History of the boosting",
    "Suspicious rows",
    "Model",
    "Data",
    "How it was made",
]


def test_all_sections_are_there(made):
    assert made.headings == ALL


def test_figures_are_the_metrics(made, fitted):
    model, X, y = fitted
    held, train = (X[200:], y[200:]), (X[:200], y[:200])
    rows = {row[0]: row[1:3] for row in made.table("figure")[1:]}
    for column, (A, b) in enumerate((held, train)):
        proba = model.predict_proba(A)
        wanted = {
            "error": f"{1 - accuracy_score(b, model.predict(A)):.2%}",
            "log loss": f"{metrics.log_loss(b, proba):.4f}",
            "Brier score": f"{metrics.brier_score(b, proba):.4f}",
            "calibration error": f"{metrics.calibration_error(b, proba):.4f}",
            "classwise calibration error": (
                f"{metrics.calibration_error(b, proba, kind='classwise'):.4f}"
            ),
        }
        assert {name: rows[name][column] for name in wanted} == wanted
    recalls = recall_score(y[200:], model.predict(X[200:]), average=None)
    by_class = made.table("class", "rows", "recall")[1:]
    assert [row[2] for row in by_class] == [f"{r:.3f}" for r in recalls]


def test_a_class_that_is_not_tested_has_no_recall(fitted):
    model, X, y = fitted
    some = y[200:] != "low"
    page = Read(model.report(X[200:][some], y[200:][some]).html)
    low = next(row for row in page.table("class", "rows", "recall") if row[0] == "low")
    assert low[1:3] == ["0", "–"]


def test_worst_confusions_are_named(made, fitted):
    model, X, y = fitted
    worst = metrics.worst_confusions(y[200:], model.predict(X[200:]), n=10)
    told = made.table("true class", "taken for")[1:]
    assert [(r[0], r[1], r[2]) for r in told] == [
        (c.true, c.predicted, f"{c.count:g}") for c in worst
    ]
    words = f"the model predicts '{worst[0].predicted}' in {worst[0].count:.0f} of the rows"
    assert any(words in text for text in made.words)


def specs(made, title):
    """The specifications of charts whose axis or description mentions something."""
    return [s for s in made.charts.values() if title in json.dumps(s)]


def test_charts_hold_the_curves(made, fitted):
    model, X, y = fitted
    (errors,) = specs(made, "Line chart of the error over")
    values = [v["value"] for v in errors["data"]["values"] if v["name"] == "held-out rows"]
    staged = [1 - accuracy_score(y[200:], said) for said in model.staged_predict(X[200:])]
    np.testing.assert_allclose(values, staged)
    marked = errors["layer"][-1]["data"]["values"]
    assert [m["round"] for m in marked] == [int(np.argmin(staged)) + 1]
    for name in ("edge", "alpha", "vote mass", "bound"):
        assert specs(made, f"Line chart of the {name} over the rounds")


def test_suspicious_rows_are_those_of_the_library(made, fitted):
    model, X, y = fitted
    found = edgewise.suspicious_rows(model, X[:200], y[:200])
    told = made.table("training row")[1:]
    assert [int(r[0]) for r in told] == found.rows[:20].tolist()
    assert [r[3] for r in told] == [f"{found.score[i]:.3f}" for i in found.rows[:20]]


def test_data_are_summarised(made, fitted):
    _, X, _ = fitted
    rows = made.table("feature", "missing")[1:]
    assert [r[0] for r in rows] == ["x0", "x1", "x2", "x3"]
    assert rows[1][5] == f"{X[:200, 1].max():.4g}"


def test_versions_and_command():
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=2).fit(X, y)
    page = report.model_report(model, X, y, command="edgewise fit a.csv --report b.html").html
    assert "edgewise fit a.csv --report b.html" in page
    for words in (edgewise.__version__, np.__version__, sys.version.split()[0]):
        assert words in page


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_every_algorithm_tells_its_story(make):
    X, y = table(4)
    model = make().fit(X, y)
    told = Read(model.report(X, y, X_train=X, y_train=y).html)
    assert [h for h in told.headings if h in ALL] == told.headings
    assert set(ALL) - set(told.headings) <= {"Importances", "Findings"}  # where there are some
    stories = set(model.history_) - {"seconds"}
    described = [s["description"] for s in told.charts.values()]
    for name in stories:
        title = edgewise._tools.rounds.STORY[name].title
        assert any(title in words for words in described), name


# --- other tasks and estimators -----------------------------------------------------------------


def test_two_classes():
    X, y = table(1, K=2)
    model = edgewise.LogitBoostClassifier(n_estimators=5).fit(X, y)
    assert Read(model.report(X, y).html).headings[0] == "Figures"
    walk = edgewise.MartiBoostClassifier(n_layers=4, random_state=0).fit(X, y)
    told = Read(report.model_report(walk, X, y).html)
    assert "History of the boosting" in told.headings
    assert "Learning curves" not in told.headings


def test_several_labels():
    X, y = table(2)
    Y = np.eye(3, dtype=int)[y]
    Y[:, 0] |= X[:, 1] > 0
    model = edgewise.AdaBoostMHClassifier(n_estimators=8).fit(X, Y)
    told = Read(model.report(X, Y, X_train=X, y_train=Y).html)
    assert "Suspicious rows" not in told.headings
    rows = {row[0]: row[1] for row in told.table("figure")[1:]}
    assert rows["Hamming loss"] == f"{np.mean(model.predict(X) != Y):.2%}"
    assert rows["rows not all right"] == f"{1 - accuracy_score(Y, model.predict(X)):.2%}"


def test_estimators_of_others():
    X, y = table(3)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    told = Read(report.model_report(forest, X, y, X_train=X, y_train=y).html)
    assert {"Figures", "Confusions", "Reliability", "Margins", "Importances"} <= set(told.headings)


def test_the_estimator_inside_a_pipeline_or_a_search_tells():
    X, y = table(3)
    pipeline = make_pipeline(StandardScaler(), edgewise.MARTClassifier(n_estimators=3)).fit(X, y)
    search = GridSearchCV(edgewise.MARTClassifier(), {"n_estimators": [3]}, cv=2).fit(X, y)
    for model in (pipeline, search):
        told = Read(report.model_report(model, X, y, X_train=X, y_train=y).html)
        assert "Learning curves" in told.headings
        assert "<h1>MARTClassifier</h1>" in report.model_report(model, X, y).html


def test_data_frames_with_words():
    pd = pytest.importorskip("pandas")
    X, y = table(3)
    frame = pd.DataFrame({"size & <b>": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    frame.loc[3, "size & <b>"] = np.nan
    model = edgewise.MARTClassifier(n_estimators=3).fit(frame, y)
    rows = Read(model.report(frame, y).html).table("feature", "missing")[1:]
    assert rows[0][:3] == ["size & <b>", "0.8%", "119"]
    assert rows[1][:4] == ["colour", "0.0%", "2", "words"]


def test_summary_of_a_column():
    pd = pytest.importorskip("pandas")
    mixed = np.array([3, pd.NA, None, 1.0], dtype=object)
    assert _data._summary(mixed, 4) == [0.5, 2, 1.0, 2.0, 3.0]
    words = np.array(["a", float("nan"), pd.NaT, "a"], dtype=object)
    assert _data._summary(words, 4) == [0.5, 1, "words", None, None]
    assert _data._summary(np.full(2, np.nan), 2) == [1.0, 0, None, None, None]


def test_large_data_are_sampled_for_the_curves():
    rows = Labelled(np.arange(5000).reshape(-1, 1), np.arange(5000))
    few = rows.sample(100)
    assert len(few) == 100
    np.testing.assert_array_equal(few.X[:, 0], few.y)
    assert rows.sample(5000) is rows


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_a_model_without_a_round():
    X, y = table(0, noise=1.0)
    model = edgewise.MARTClassifier(n_estimators=3, n_iter_no_change=2)
    model.fit(X, y, X_val=X, y_val=(y + 1) % 3)
    assert model.n_iter_ == 0
    told = Read(model.report(X, y, X_train=X, y_train=y).html)
    assert any("The model keeps no round" in words for words in told.words)


# --- safety -------------------------------------------------------------------------------------


def test_hostile_names_are_words():
    pd = pytest.importorskip("pandas")
    X, y = table(0)
    names = np.array([HOSTILE, "{{ 7 * 7 }}", "\u2028 --signal"])
    frame = pd.DataFrame(X, columns=[HOSTILE, "<b>", "{% raw %}", "&amp;"])
    model = edgewise.ABCMARTClassifier(n_estimators=4).fit(frame, names[y])
    page = model.report(frame, names[y], X_train=frame, y_train=names[y], title=HOSTILE).html
    told = Read(page)
    scripts = [attributes for tag, attributes in told.tags if tag == "script"]
    assert len(scripts) == 3
    assert [t for t, a in told.tags if t == "img" or any(k.startswith("on") for k in a)] == []
    assert page.count("<script") == page.count("</script>") == 3
    assert "49" not in {r[0] for t in told.tables for r in t}
    assert HOSTILE in {row[0] for row in told.table("class")}
    values = [v for s in told.charts.values() for v in s.get("data", {}).get("values", [])]
    assert any(HOSTILE in v.values() for v in values)


def test_only_our_scripts_are_allowed(made):
    (policy,) = [a["content"] for t, a in made.tags if t == "meta" and "http-equiv" in a]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    allowed = rules["script-src"].split()
    assert len(allowed) == 2
    assert all(word.startswith("'sha256-") for word in allowed)
    script = (_page.STATIC / "page.js").read_text()
    assert _bundle.source_hash(script) in allowed
    addresses = [a.get(k) for t, a in made.tags for k in ("src", "href") if k in a]
    assert [a for a in addresses if not a.startswith("#")] == []


def test_numbers_that_are_none_become_null():
    text = _page.as_json({"a": [np.nan, np.inf, 1.5], "b": np.arange(2), "c": "</script>"})
    assert json.loads(text) == {"a": [None, None, 1.5], "b": [0, 1], "c": "</script>"}
    assert "<" not in text


# --- saving and showing -------------------------------------------------------------------------


def test_save_leaves_a_whole_file_or_none(fitted, tmp_path, monkeypatch):
    model, X, y = fitted
    made = model.report(X, y)
    path = made.save(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == made.html
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match="folder"):
        made.save(tmp_path / "absent" / "report.html")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        report.Report("other", "t").save(path)
    assert path.read_text(encoding="utf-8") == made.html
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_notebooks_show_it_in_a_frame_of_its_own():
    shown = report.Report('<p title="a">b & c</p>', "<i>")._repr_html_()
    (frame,) = [a for t, a in Read(shown).tags if t == "iframe"]
    assert frame["srcdoc"] == '<p title="a">b & c</p>'
    assert frame["title"] == "<i>"
    assert "allow-same-origin" not in frame["sandbox"]


def test_without_its_libraries_the_extra_is_named(fitted, monkeypatch):
    model, X, y = fitted
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _page._templates.cache_clear()
    with pytest.raises(ImportError, match="extra 'report'"):
        model.report(X, y)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    _bundle.vega.cache_clear()
    with pytest.raises(ImportError, match="extra 'report'"):
        _bundle.vega()


# --- comparisons --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison(fitted):
    model, X, y = fitted
    said, proba = model.predict(X), model.predict_proba(X)
    results = [
        report.MethodResult(
            "AdaBoost.MH",
            error=0.125,
            interval=(0.1, 0.15),
            log_loss=0.5,
            brier=0.25,
            calibration=0.0625,
            fit_seconds=1.5,
            predict_seconds=0.001,
            model_bytes=12_345,
            fold_errors=[0.1, 0.15],
        ),
        report.MethodResult("MART <b>", error=0.25, fold_errors=[0.2, 0.3]),
    ]
    return report.Comparison(
        data="toy",
        results=results,
        facts={"rows": 300},
        paired_test=report.PairedTest("AdaBoost.MH", "MART <b>", "t-test", 0.125, 0.01),
        curves=[report.LearningCurve("MART <b>", [0.5, 0.25], 2)],
        best=report.HeldOut(y, said, model.classes_, proba, model, X),
        failures={"CatBoost": "not installed"},
        command="edgewise compare toy.csv",
    )


def test_comparison(comparison):
    told = Read(report.comparison_report(comparison).html)
    rows = told.table("method", "error")[1:]
    assert rows[0] == [
        "AdaBoost.MH", "12.50%", "10.00% – 15.00%", "0.5000", "0.2500", "0.0625", "1.5", "0.001",
        "12.3 kB",
    ]  # fmt: skip
    assert rows[1] == ["MART <b>", "25.00%", *["–"] * 7]
    assert told.headings[:3] == ["Methods", "Rounds of all methods", "Folds"]
    assert {"Figures", "Confusions", "Reliability"} <= set(told.headings)
    words = " ".join(told.words)
    assert "differ by +12.50 points in error: that is unlikely to be chance (p = 0.01" in words
    assert "CatBoost has no figures: not installed" in words
    assert "edgewise compare toy.csv" in words


def test_comparison_of_predictions_alone(comparison, fitted):
    _, _, y = fitted
    alone = report.HeldOut(y, y, np.unique(y))
    told = Read(report.comparison_report(replace(comparison, best=alone, curves=())).html)
    assert "Confusions" in told.headings
    assert "Reliability" not in told.headings


def test_experiments():
    rows = [
        ["Letter", 2.5, 2.4, report.Verdict("agrees", "within 0.2")],
        ["Isolet", None, 5.0, report.Verdict("differs")],
    ]
    png = b"\x89PNG\r\n"
    parts = [
        report.Table(["data", "paper", "ours", "verdict"], rows),
        report.Chart({"mark": "point", "data": {"values": []}}, "nothing to see"),
        report.Image(png, "a picture"),
        report.Image("<svg onload='alert(1)'/>", "a drawing"),
    ]
    one = report.Experiment(
        "geist-2",
        "Table 2",
        [report.Section("Errors", ["In per cent."], parts)],
        [row[-1] for row in rows],
        "Geist (2015)",
        "edgewise reproduce geist-2",
        {"seed": 1},
    )
    told = Read(report.experiment_report(one).html)
    assert told.table("data", "paper")[1:] == [
        ["Letter", "2.5", "2.4", "✓ within 0.2"],
        ["Isolet", "–", "5", "✗ differs"],
    ]
    images = [a for t, a in told.tags if t == "img"]
    assert [a["alt"] for a in images] == ["a picture", "a drawing"]
    assert all(a["src"].startswith("data:image/") for a in images)
    several = Read(report.experiment_report([one, replace(one, name="b", verdicts=())]).html)
    assert several.headings[:3] == ["Summary", "geist-2: Errors", "b: Errors"]
    assert [r[-1] for r in several.table("experiment")[1:]] == ["✗ differs", "? open"]


# --- bad input ----------------------------------------------------------------------------------


def test_bad_input_is_refused(fitted):
    model, X, y = fitted
    for error, words, ask in (
        (InvalidParameterError, "fitted classifier", lambda: report.model_report("mart", X, y)),
        (ValueError, "not fitted", lambda: edgewise.MARTClassifier().report(X, y)),
        (InvalidDataError, "same rows", lambda: model.report(X, y[:5])),
        (InvalidDataError, "needs y", lambda: model.report(X, None)),
        (InvalidDataError, "both X_train", lambda: model.report(X, y, X_train=X)),
        (InvalidDataError, "same rows", lambda: model.report(X, y, X_train=X, y_train=y[1:])),
        (InvalidDataError, "unknown", lambda: model.report(X, np.full(len(y), "unknown"))),
        (InvalidParameterError, "Comparison", lambda: report.comparison_report([])),
        (
            InvalidDataError,
            "no method",
            lambda: report.comparison_report(report.Comparison("toy", [])),
        ),
        (InvalidDataError, "one Experiment", lambda: report.experiment_report([])),
    ):
        with pytest.raises(error, match=words):
            ask()


def test_cells():
    assert _page.cell(None) == _page.cell(float("nan")) == "–"
    assert _page.cell(1234567) == "1,234,567"
    assert _page.cell(0.000123456) == "0.0001235"
    assert _page.cell(np.float64(0.5), ".1%") == "50.0%"
    assert _page.cell(True) == "True"


def test_escaping_is_on():
    page = report.experiment_report(
        report.Experiment("a", HOSTILE, [report.Section(HOSTILE, [HOSTILE])])
    ).html
    assert html.escape(HOSTILE, quote=False) in page.replace("&#34;", '"')
    assert re.findall(r"<script(?! type=)", page) == []


# --- decisions ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uneven():
    """Rows of classes that overlap, one of them rare."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(600) < 0.12, "rare", np.where(rng.random(600) < 0.5, "a", "b"))
    X = np.column_stack([np.where(y == "rare", 0.9, 0.0), y == "a"]) + rng.normal(size=(600, 2))
    return X[:400], y[:400], X[400:], y[400:]


def decided(uneven, **how):
    X, y, X_test, y_test = uneven
    inner = edgewise.AOSOLogitBoostClassifier(n_estimators=8)
    model = decide.DecisionClassifier(inner, **how).fit(X, y)
    page = report.model_report(model, X_test, y_test, X_train=X, y_train=y)
    return model, Read(page.html)


def test_the_report_tells_what_decisions_cost(uneven):
    cost = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0]])
    model, told = decided(uneven, cost=cost, value=[0, 0, 1], reject_cost=0.5)
    _, _, X, y = uneven
    rows = told.table("decisions", "mean cost")[1:]
    net, places = cost - np.diag([0, 0, 1]), np.searchsorted(model.classes_, y)
    said = model.predict(X)
    own = [0.5 if s == "reject" else net[t, np.searchsorted(model.classes_, s)]
           for t, s in zip(places, said, strict=True)]  # fmt: skip
    plain = net[places, model.predict_proba(X).argmax(axis=1)]
    for row, wanted in ((rows[0], own), (rows[1], plain)):
        ends = decide.cost_interval(wanted)
        assert row[1:] == [f"{end:.4g}" for end in (ends.mean, ends.low, ends.high)]
    assert rows[2][1] == f"{model.expected_cost_.mean:.4g}"
    n_rejected = int((said == "reject").sum())
    assert n_rejected > 0
    assert any(f"{n_rejected:,} ({n_rejected / len(y):.1%})" in words for words in told.words)
    assert any(f"{n_rejected:,} of them are not decided" in words for words in told.words)
    assert any(f"{n_rejected:,} rows that are not decided" in words for words in told.words)


def test_a_report_without_a_decided_row(uneven):
    model, told = decided(uneven, cost=1 - np.eye(3), reject_cost=0.0)
    assert (model.predict(uneven[2]) == "reject").all()
    assert "No held-out row is decided." in told.words


@pytest.mark.parametrize("metric", ["macro_f1", ("recall", "rare", 0.7)])
def test_the_report_tells_what_thresholds_change(uneven, metric):
    X, y, X_test, y_test = uneven
    model, told = decided(uneven, metric=metric)
    plain, said = model.estimator_.predict(X_test), model.predict(X_test)
    changed = int((plain != said).sum())
    assert changed > 0
    assert any(f"{changed:,} ({changed / len(y_test):.1%})" in words for words in told.words)
    rows = told.table("class", "offset")[1:]
    for row, label in zip(rows, model.classes_, strict=True):
        assert row[2:4] == [str((answers == label).sum()) for answers in (plain, said)]
        recalls = [recall_score(y_test, a, labels=[label], average=None) for a in (plain, said)]
        assert row[4:] == [f"{recall[0]:.3f}" for recall in recalls]
    figures = {row[0]: row[1:] for row in told.table("figure", "without thresholds")[1:]}
    if metric == "macro_f1":
        scores = [f1_score(y_test, a, average="macro") for a in (plain, said)]
        assert figures == {"macro_f1": [f"{score:.4g}" for score in scores]}
    else:
        assert figures["recall of rare"] == [f"{float(row):.4g}" for row in [
            np.mean(a[y_test == "rare"] == "rare") for a in (plain, said)]]  # fmt: skip
        assert list(figures) == ["recall of rare", "accuracy"]
    # Errors are those of the decisions, on both sides; rounds and margins those of the booster.
    errors = next(row for row in told.table("figure", "held-out rows")[1:] if row[0] == "error")
    assert errors[1] == f"{np.mean(said != y_test):.2%}"
    assert errors[2] == f"{np.mean(model.predict(X) != y):.2%}"
    assert {"Learning curves", "Margins"} <= set(told.headings)


@pytest.mark.parametrize("class_conditional", [False, True])
def test_the_report_tells_coverage_and_sizes_of_sets(uneven, class_conditional):
    _, _, X, y = uneven
    model, told = decided(uneven, coverage=0.9, class_conditional=class_conditional)
    sets = model.predict_sets(X)
    truth = np.searchsorted(model.classes_, y)
    covered, sizes = sets[np.arange(len(y)), truth], sets.sum(axis=1)
    assert any(f"the class of {covered.mean():.2%} of" in words for words in told.words)
    assert any(f"{sizes.mean():.3g} classes on average" in words for words in told.words)
    by_size = told.table("classes in the set")[1:]
    assert [(int(r[0]), int(r[1])) for r in by_size] == [
        (size, count) for size, count in enumerate(np.bincount(sizes)) if count
    ]
    by_class = told.table("class", "rows", "covered")[1:]
    assert [r[2] for r in by_class] == [f"{covered[truth == k].mean():.1%}" for k in range(3)]


def test_decisions_around_a_pipeline_and_without_a_rule(uneven):
    X, y, X_test, y_test = uneven
    steps = make_pipeline(StandardScaler(), edgewise.MARTClassifier(n_estimators=4))
    model = decide.DecisionClassifier(steps, metric="macro_f1").fit(X, y)
    told = Read(report.model_report(model, X_test, y_test, X_train=X, y_train=y).html)
    assert {"Decisions", "Learning curves"} <= set(told.headings)
    plain = decide.DecisionClassifier(edgewise.MARTClassifier(n_estimators=4)).fit(X, y)
    assert "Decisions" not in Read(report.model_report(plain, X_test, y_test).html).headings
