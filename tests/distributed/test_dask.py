"""Fits on Dask collections: real clusters of worker processes on this machine."""

import os
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from support import nominal_table, table
from support_blocks import (
    assert_same_fit,
    fit_inside,
    fit_locally,
    places,
    pretend,
    tell_the_truth,
)

import edgewise
from edgewise import EdgewiseError, FitWarning, InvalidDataError, InvalidParameterError
from edgewise.distributed import WorkersLostError, settings
from edgewise.distributed._messages import Messenger

distributed = pytest.importorskip("distributed", reason="needs edgewise[dask]")
dask = pytest.importorskip("dask", reason="needs edgewise[dask]")
da = pytest.importorskip("dask.array", reason="needs edgewise[dask]")

FEW = {"n_estimators": 4, "learning_rate": 0.3, "max_leaf_nodes": 8}
ESTIMATORS = {
    "mart": edgewise.MARTClassifier(**FEW),
    "abc_mart": edgewise.ABCMARTClassifier(gap=1, **FEW),
    "logitboost": edgewise.LogitBoostClassifier(**FEW),
    "abc_logitboost": edgewise.ABCLogitBoostClassifier(gap=1, **FEW),
    "aoso_pair": edgewise.AOSOLogitBoostClassifier(**FEW),
    "aoso_vector": edgewise.AOSOLogitBoostClassifier(leaf="vector", **FEW),
    "mh_tree": edgewise.AdaBoostMHClassifier(n_estimators=3),
}
DRAWN = {"subsample": 0.7, "max_features": 3, "splitter": "random", "random_state": 4}
CONTROLLED = {
    "mart": edgewise.MARTClassifier(
        **FEW, **DRAWN, l2_regularization=1.0, monotonic_cst={0: {1: 1}}, early_stopping=True
    ),
    "aoso": edgewise.AOSOLogitBoostClassifier(
        **FEW, **DRAWN, interaction_cst="pairwise", monotonic_cst={0: {1: 1}}, calibration="vector"
    ),
    "mh": edgewise.AdaBoostMHClassifier(
        n_estimators=4, max_features=3, splitter="random", random_state=4, early_stopping=True
    ),
}
LONG = edgewise.AOSOLogitBoostClassifier(n_estimators=25, max_leaf_nodes=8)

pytestmark = pytest.mark.filterwarnings(
    "default",  # what Dask and its event loops warn of, other processes' death included
)


@pytest.fixture(scope="module")
def gaps():
    return table(3, n=900, K=4, d=5, missing=0.1)


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes; tests that change that put it right again."""
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=50,
    )
    yield cluster
    with suppress(KeyError):  # Dask's own notes of a worker that was killed as soon as it came
        cluster.close()


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def scale(cluster, client, n):
    cluster.scale(n)
    if n:
        client.wait_for_workers(n)
    while len(client.nthreads()) > n:
        time.sleep(0.05)


def collections(X, y, partitioning="empty"):
    """Dask arrays whose blocks are cut at these places."""
    sizes = tuple(int(n) for n in np.diff(places(len(X), partitioning)))
    return da.from_array(X, chunks=(sizes, X.shape[1])), da.from_array(
        y, chunks=(sizes, *y.shape[1:])
    )


@pytest.mark.parametrize("n_workers", [1, 3, 2])
def test_workers_and_partitionings_do_not_matter(cluster, client, gaps, n_workers):
    scale(cluster, client, n_workers)
    for i, estimator in enumerate(ESTIMATORS.values()):
        partitioning = ["one", "two", "empty", "nine"][(i + n_workers) % 4]
        remote = clone(estimator).fit(*collections(*gaps, partitioning))
        assert_same_fit(remote, clone(estimator).fit(*gaps))


@pytest.mark.parametrize("n_workers", [1, 3, 2])
def test_growing_is_controlled_as_locally(cluster, client, gaps, n_workers):
    scale(cluster, client, n_workers)
    for i, estimator in enumerate(CONTROLLED.values()):
        partitioning = ["one", "two", "three"][(i + n_workers) % 3]
        remote = clone(estimator).fit(*collections(*gaps, partitioning))
        assert_same_fit(remote, fit_locally(estimator, *gaps))


def test_results_by_tasks_are_the_same(client, gaps, monkeypatch):
    monkeypatch.setattr("edgewise.distributed._dask.SMALL", 0)
    estimator = edgewise.LogitBoostClassifier(n_estimators=1, max_leaf_nodes=4)
    remote = clone(estimator).fit(*collections(*gaps, "nine"))
    assert_same_fit(remote, clone(estimator).fit(*gaps))


def test_fits_are_made_by_messages(client, gaps, monkeypatch):
    messengers = []
    backend = edgewise.distributed._dask.DaskBackend
    close = backend.close
    monkeypatch.setattr(
        backend, "close", lambda self: (messengers.append(self.messenger), close(self))
    )
    clone(ESTIMATORS["aoso_pair"]).fit(*collections(*gaps, "two"))
    rounds = FEW["n_estimators"]
    assert messengers[0].n_led == rounds  # all trees
    assert messengers[0].n_answered >= 2 * rounds


def requests_known(dask_worker):
    return sorted(name for name in dask_worker.handlers if name.startswith("edgewise"))


def test_workers_are_left_as_they_were(client, gaps):
    known = []
    boost = clone(ESTIMATORS["aoso_pair"])
    boost.set_callbacks(AtRound(2, lambda: known.append(client.run(requests_known))))
    boost.fit(*collections(*gaps, "two"))
    during = ["edgewise_follow", "edgewise_lead", "edgewise_sum"]
    assert during in known[0].values()
    assert not any(client.run(requests_known).values())


def test_a_fit_that_gives_up_messages_warns(client, gaps, monkeypatch):
    async def refuse(self, request, places, message):
        raise OSError("no such request")

    monkeypatch.setattr(Messenger, "_answers", refuse)
    estimator = edgewise.LogitBoostClassifier(n_estimators=1, max_leaf_nodes=4)
    with pytest.warns(FitWarning, match="Messages to the workers failed 5 times in a row"):
        remote = clone(estimator).fit(*collections(*gaps, "two"))
    assert_same_fit(remote, clone(estimator).fit(*gaps))


def test_trees_without_a_leader_are_the_same(client, gaps, monkeypatch):
    backend = edgewise.distributed._dask.DaskBackend
    monkeypatch.setattr(backend, "lead", lambda self, *args, **kwargs: None)
    for name in ("aoso_pair", "logitboost", "mh_tree"):
        remote = clone(ESTIMATORS[name]).fit(*collections(*gaps, "nine"))
        assert_same_fit(remote, clone(ESTIMATORS[name]).fit(*gaps))


@pytest.mark.parametrize("seconds", [0.1, 0.3])
def test_a_worker_killed_while_trees_grow(cluster, client, gaps, seconds):
    """Wherever it strikes; most of the time a worker leads."""
    many = clone(LONG).set_params(n_estimators=200)
    strike = threading.Timer(seconds, kill_one, [client])
    boost = clone(many).set_callbacks(AtRound(1, strike.start))
    remote = boost.fit(*collections(*gaps, "nine"))
    assert strike.finished.is_set()
    client.wait_for_workers(2)
    assert_same_fit(remote, clone(many).fit(*gaps))


def test_prediction_is_lazy_and_blockwise(client, gaps):
    X, y = gaps
    dX, _ = collections(X, y)
    fitted = clone(ESTIMATORS["aoso_pair"]).fit(X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        answer = getattr(fitted, method)(dX)
        assert isinstance(answer, da.Array)
        assert answer.chunks[0] == tuple(n for n in dX.chunks[0] if n)
        np.testing.assert_array_equal(answer.compute(), getattr(fitted, method)(X))


def test_data_frames_weights_and_validation_rows(client, gaps, rng):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    pd = pytest.importorskip("pandas")
    X, y = gaps
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        label=np.array(list("wxyz"))[y], weight=rng.exponential(size=len(y))
    )
    train, held = frame[:700], frame[700:]
    remote = dd.from_pandas(train, npartitions=3)
    boost = edgewise.AOSOLogitBoostClassifier(n_estimators=15, n_iter_no_change=2)
    names = list("abcde")
    local = clone(boost).fit(
        train[names], train.label, train.weight, X_val=held[names], y_val=held.label
    )
    fitted = clone(boost).fit(
        remote[names], remote.label, remote.weight, X_val=held[names], y_val=held.label
    )
    assert_same_fit(fitted, local)
    assert fitted.feature_names_in_.tolist() == names
    answer = fitted.predict(remote[names])
    np.testing.assert_array_equal(answer.compute(), local.predict(train[names]))


@pytest.fixture(scope="module")
def words():
    """Numbers, text with gaps, categories in an order of their own, and truth values."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(8)
    n = 600
    frame = pd.DataFrame({"number": rng.normal(size=n)})
    frame["town"] = rng.choice(["Rome", "Bonn", "Oslo", "Bern", None], n)
    frame["size"] = pd.Categorical(rng.choice(["s", "m", "l"], n), categories=["s", "m", "l", "xl"])
    frame["flag"] = rng.random(n) < 0.4
    frame.loc[:250, "town"] = frame.loc[:250, "town"].replace("Oslo", "Bonn")  # a block lacks Oslo
    frame.loc[300:449, "town"] = None  # a block without any
    y = (frame["town"].isin(["Bonn", "Oslo"]) * 1 + (frame["size"] == "m")).to_numpy()
    return frame, pd.Series((y + (rng.random(n) < 0.2)) % 3, name="label")


@pytest.mark.parametrize("n_workers", [1, 3, 2])
@pytest.mark.parametrize("name", ["aoso", "mart_early", "mh_tree"])
def test_columns_of_text_and_categories(cluster, client, words, name, n_workers):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    scale(cluster, client, n_workers)
    boost = {
        "aoso": ESTIMATORS["aoso_pair"],
        "mart_early": clone(ESTIMATORS["mart"]).set_params(early_stopping=True, random_state=2),
        "mh_tree": ESTIMATORS["mh_tree"],
    }[name]
    frame, y = words
    both = dd.from_pandas(frame.assign(label=y), npartitions=4)
    remote, label = both[list(frame)], both["label"]
    there, here = clone(boost).fit(remote, label), fit_locally(boost, frame, y)
    assert_same_fit(there, here)
    assert len(here.model_.set_start) > 1
    np.testing.assert_array_equal(there.is_categorical_, here.is_categorical_)
    assert there.categories_.keys() == here.categories_.keys() == {1, 2}
    for j, values in here.categories_.items():
        assert there.categories_[j].tolist() == values.tolist()
    answers = there.predict_proba(remote).compute()
    np.testing.assert_array_equal(answers, here.predict_proba(frame))


def test_a_warm_start_knows_the_words(client, words):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    frame, y = words
    both = dd.from_pandas(frame.assign(label=y), npartitions=2)
    boost = clone(ESTIMATORS["aoso_pair"]).set_params(n_estimators=2, warm_start=True)
    boost.fit(both[list(frame)], both["label"]).set_params(n_estimators=4)
    with pytest.raises(InvalidDataError, match="1, 2 of X held text or categories.*Got numbers"):
        boost.fit(da.zeros((600, 4), chunks=(300, 4)), y.to_numpy())
    boost.fit(both[list(frame)], both["label"])
    local = clone(ESTIMATORS["aoso_pair"]).fit(frame, y)
    assert boost.model_.values.tobytes() == local.model_.values.tobytes()


@pytest.mark.parametrize("n_workers", [1, 3, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["aoso", "logitboost_drawn", "mh_tree"])
def test_soft_labels(cluster, client, gaps, rng, name, weighted, n_workers):
    scale(cluster, client, n_workers)
    boost = {
        "aoso": clone(ESTIMATORS["aoso_pair"]).set_params(n_iter_no_change=2),
        "logitboost_drawn": clone(ESTIMATORS["logitboost"]).set_params(
            subsample=0.7, random_state=3, min_samples_leaf=5
        ),
        "mh_tree": ESTIMATORS["mh_tree"],
    }[name]
    X, _ = gaps
    soft = rng.dirichlet([0.3] * 3, size=len(X))
    soft[: len(X) // 3] = np.eye(3)[rng.integers(0, 3, len(X) // 3)]
    weights = rng.integers(0, 3, len(X)) * 0.5 if weighted else None
    dX, dsoft = collections(X, soft)
    dsoft = dsoft.rechunk({1: 1}) if weighted else dsoft
    dweights = None if weights is None else da.from_array(weights, chunks=(dX.chunks[0],))
    held = {"X_val": X[:50], "y_val": soft[:50]} if name == "aoso" else {}
    there = clone(boost).fit(dX, dsoft, dweights, **held)
    assert_same_fit(there, clone(boost).fit(X, soft, weights, **held))


def test_certain_labels_and_names_of_classes(client, gaps):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    pd = pytest.importorskip("pandas")
    X, y = gaps
    boost = ESTIMATORS["aoso_pair"]
    names = ["south", "east", "north", "west"]
    certain = pd.DataFrame(np.eye(4)[y], columns=names)
    frame = pd.DataFrame(X, columns=list("abcde"))
    both = dd.from_pandas(pd.concat([frame, certain], axis=1), npartitions=3)
    there = clone(boost).fit(both[list(frame)], both[names])
    assert_same_fit(there, clone(boost).fit(frame, certain))
    assert there.classes_.tolist() == sorted(names)


def test_soft_labels_that_are_refused(client, gaps):
    X, y = gaps
    dX, dy = collections(X, np.eye(4)[y])
    mart = edgewise.MARTClassifier(n_estimators=1)
    with pytest.raises(InvalidParameterError, match="'class_weight'.*soft labels"):
        clone(mart).set_params(class_weight="balanced").fit(dX, dy)
    with pytest.raises(InvalidDataError, match="not held out.*give X_val and y_val"):
        clone(mart).set_params(early_stopping=True).fit(dX, dy)
    with pytest.raises(InvalidDataError, match="Class 3 has none"):
        clone(mart).fit(dX, da.where(da.arange(4) == 3, 0.0, 0.25 + dy * 0) / 0.75)
    with pytest.raises(InvalidDataError, match="the sum is 2"):
        clone(mart).fit(dX, dy * 2.0)
    with pytest.raises(InvalidDataError, match="indicator matrix can be learned from locally"):
        clone(mart).fit(dX, da.minimum(dy + da.eye(4)[:1], 1.0))
    with pytest.raises(InvalidDataError, match="indicator matrix can be learned from"):
        clone(mart).fit(dX, dy.astype(int))


def test_dates_are_read_in_predict_and_refused_in_fit(client, words):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    pd = pytest.importorskip("pandas")
    _, y = words
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=len(y)), "a": 1.0})
    both = dd.from_pandas(frame.assign(label=y), npartitions=2)
    boost = clone(ESTIMATORS["mart"]).set_params(n_estimators=2)
    with pytest.raises(InvalidDataError, match="'day' holds dates or times.*into seconds"):
        boost.fit(both[list(frame)], both["label"])
    boost.set_params(warm_start=True).fit(frame, y)
    told = boost.predict_proba(both[list(frame)]).compute()
    np.testing.assert_array_equal(told, boost.predict_proba(frame))
    numbers = both[list(frame)].assign(day=1.0)
    with pytest.raises(InvalidDataError, match=r"columns \[0\] of X held dates or times"):
        boost.set_params(n_estimators=4).fit(numbers, both["label"])


def test_words_that_are_refused(client, words):
    dd = pytest.importorskip("dask.dataframe", reason="needs edgewise[dask]")
    frame, y = words
    boost = clone(ESTIMATORS["mart"]).set_params(categorical_features=["size"])
    both = dd.from_pandas(frame.assign(label=y), npartitions=2)
    with pytest.raises(InvalidDataError, match="'town' holds text or categories, which the"):
        boost.fit(both[list(frame)], both["label"])
    mixed = frame[["number"]].assign(odd=[*["a"] * 300, *[1.5] * 300]).astype({"odd": object})
    with dask.config.set({"dataframe.convert-string": False}):
        odd = dd.from_pandas(mixed.assign(label=y), npartitions=2)
    with pytest.raises(InvalidDataError, match="'odd' must hold values of one kind"):
        clone(ESTIMATORS["mart"]).fit(odd[["number", "odd"]], odd["label"])


def test_blocks_of_sparse_rows(client):
    X = sparse.random(600, 80, density=0.05, random_state=0, format="csr")
    y = (X[:, :30].sum(axis=1) > X[:, 30:60].sum(axis=1)).A1.astype(int) + (
        X[:, 60] > 0
    ).toarray().ravel()
    dX, dy = collections(X.toarray(), y, "three")
    thin = dX.map_blocks(sparse.csr_matrix, dtype=float, meta=sparse.csr_matrix((0, 0)))
    boost = clone(ESTIMATORS["aoso_pair"]).set_params(early_stopping=True, random_state=0)
    remote, local = clone(boost).fit(thin, dy), fit_locally(boost, X, y)
    assert_same_fit(remote, local)
    np.testing.assert_array_equal(remote.predict_proba(thin).compute(), local.predict_proba(X))


def test_categories_given_by_number(client):
    X, y = nominal_table(1, n=400, levels=9, missing=0.05)
    boost = clone(ESTIMATORS["logitboost"]).set_params(categorical_features=[0, 1])
    assert_same_fit(clone(boost).fit(*collections(X, y)), clone(boost).fit(X, y))


def test_warm_start_resumes(client, gaps):
    X, y = collections(*gaps)
    boost = clone(ESTIMATORS["abc_logitboost"]).set_params(n_estimators=2, warm_start=True)
    boost.fit(X, y).set_params(n_estimators=4).fit(X, y)
    local = clone(ESTIMATORS["abc_logitboost"]).fit(*gaps)
    assert boost.model_.values.tobytes() == local.model_.values.tobytes()


def test_two_fits_at_once(client, gaps):
    X, y = collections(*gaps)
    fits = [clone(ESTIMATORS["logitboost"]), clone(ESTIMATORS["aoso_pair"])]
    threads = [threading.Thread(target=fit.fit, args=(X, y)) for fit in fits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fit in fits:
        assert_same_fit(fit, clone(fit).fit(*gaps))


def test_a_fit_inside_a_task(client, gaps):
    boost = clone(ESTIMATORS["aoso_pair"]).set_params(n_estimators=1)
    inside = client.submit(fit_inside, boost, *gaps).result()
    assert_same_fit(inside, clone(boost).fit(*gaps))


class AtRound:
    """A callback that does something, once, when a round has ended."""

    def __init__(self, m, action):
        self._left = m
        self._action = action

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "round":
            self._left -= 1
            if self._left == 0:
                self._action()


def kill_one(client):
    """Ends a worker process that holds blocks, as a machine that fails would."""
    holders = [w for keys in client.who_has().values() for w in keys]
    pids = client.run(os.getpid)
    os.kill(pids[holders[0]], signal.SIGKILL)


@pytest.mark.parametrize("given", [{}, DRAWN | {"early_stopping": True}], ids=["all", "drawn"])
def test_a_killed_worker_costs_nothing_but_time(cluster, client, gaps, given):
    def strike():
        kill_one(client)
        cluster.scale(3)  # one that joins later

    long = clone(LONG).set_params(**given)
    boost = clone(long).set_callbacks(AtRound(8, strike))
    remote = boost.fit(*collections(*gaps, "nine"))
    scale(cluster, client, 2)
    assert_same_fit(remote, fit_locally(long, *gaps))


def test_no_workers_left_ends_the_fit_and_leaves_the_checkpoint(cluster, client, gaps, tmp_path):
    file = tmp_path / "rounds.edgewise"
    boost = clone(LONG).set_callbacks(AtRound(12, lambda: scale(cluster, client, 0)))
    begin = time.monotonic()
    with (
        settings(checkpoint=file, checkpoint_every=5, patience=3.0),
        pytest.raises(WorkersLostError, match="resume_from"),
    ):
        boost.fit(*collections(*gaps, "two"))
    assert time.monotonic() - begin < 60
    assert not hasattr(boost, "model_")
    scale(cluster, client, 2)
    with settings(resume_from=file):
        resumed = clone(LONG).fit(*collections(*gaps))
    assert_same_fit(resumed, clone(LONG).fit(*gaps))


def test_raw_data_is_released(client, gaps):
    X, y = gaps
    lazy = da.from_array(np.repeat(X, 20, axis=0), chunks=(4500, 5))
    boost = clone(ESTIMATORS["mart"]).set_callbacks(
        AtRound(2, lambda: seen.update(client.has_what()))
    )
    seen = {}
    boost.fit(lazy, da.from_array(np.repeat(y, 20), chunks=4500))
    kinds = {str(key).split("-")[0] for keys in seen.values() for key in keys}
    assert kinds == {"bin_part"}


def erred(client):
    """Tasks that the scheduler keeps though they have failed."""
    return client.run_on_scheduler(
        lambda dask_scheduler: [
            key for key, task in dask_scheduler.tasks.items() if task.state == "erred"
        ]
    )


def test_a_failed_first_pass_leaves_no_tasks(client, gaps):
    X, y = gaps
    wrong = da.from_array(np.full(len(y), np.nan), chunks=100)
    try:
        clone(ESTIMATORS["mart"]).fit(da.from_array(X, chunks=(100, -1)), wrong)
    except ValueError as error:
        kept = error  # with its traceback, and with that all futures of its frames
    deadline = time.monotonic() + 10
    while erred(client) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert erred(client) == []
    assert kept is not None


@pytest.mark.parametrize(("found", "words"), [("0.0.9", "has 0.0.9"), (None, "has none")])
def test_workers_with_another_version(client, gaps, found, words):
    address = sorted(client.scheduler_info()["workers"])[0]
    client.run(pretend, found, workers=[address])
    try:
        with pytest.raises(EdgewiseError, match=rf"All workers must .* {address} {words}\."):
            edgewise.MARTClassifier(n_estimators=1).fit(*collections(*gaps))
    finally:
        client.run(tell_the_truth, workers=[address])


def test_refusals_have_words(client, gaps):
    X, y = collections(*gaps)
    with pytest.raises(InvalidParameterError, match="cannot be fitted on rows that"):
        edgewise.SAMMEClassifier().fit(X, y)
    with pytest.raises(InvalidParameterError, match="max_bins.* at most 255 on rows that"):
        edgewise.MARTClassifier(max_bins=256).fit(X, y)
    with pytest.raises(InvalidDataError, match="inconsistent numbers"):
        edgewise.MARTClassifier().fit(X, y[:-1])
    with pytest.raises(InvalidDataError, match="two classes"):
        edgewise.MARTClassifier().fit(X, y * 0)
