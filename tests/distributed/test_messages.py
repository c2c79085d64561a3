"""Messages to workers: the same sums as by tasks, or no answer."""

import operator
import time
from functools import partial

import distributed
import pytest
from support_blocks import added_up, killed_at

from edgewise.distributed import _messages

pytestmark = pytest.mark.filterwarnings("default")  # what Dask and its event loops warn of


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def parts(client):
    """Five numbers on two workers."""
    client.wait_for_workers(2)
    workers = sorted(client.nthreads())
    parts = [client.submit(float, i, workers=[workers[i % 2]], pure=False) for i in range(5)]
    distributed.wait(parts)
    return parts


def asked(messenger, parts, function=operator.add):
    return messenger.sums(function, parts, (10,), operator.add)


def test_every_worker_adds_up_its_own(client, parts):
    messenger = _messages.Messenger(client)
    for trip in (1, 2):
        assert sorted(asked(messenger, parts)) == [1 + 3 + 20, 0 + 2 + 4 + 30]
        assert (messenger.n_workers, messenger.n_answered) == (2, trip)
    assert messenger.reaches


def test_the_scheduler_passes_messages_on(client, parts, monkeypatch):
    monkeypatch.setattr(_messages, "PATIENCE", 0.0)
    messenger = _messages.Messenger(client)
    assert sum(asked(messenger, parts)) == 60
    assert not messenger.reaches
    assert sum(asked(messenger, parts)) == 60


def test_parts_that_are_not_there_give_no_answer(client, parts):
    messenger = _messages.Messenger(client)
    assert asked(messenger, parts)
    client.cancel(parts[0])
    assert asked(messenger, parts) == []
    assert sum(asked(messenger, parts[1:])) == 50


def test_parts_that_have_moved_are_found_again(client, parts):
    messenger = _messages.Messenger(client)
    assert asked(messenger, parts)
    first, second = client.nthreads()
    messenger._places = {first: [part.key for part in parts]}  # as if all had been there
    assert asked(messenger, parts) == []
    assert sum(asked(messenger, parts)) == 60
    assert second in messenger._places


def test_failures_in_a_row_end_it(client, parts):
    messenger = _messages.Messenger(client)
    for _ in range(_messages.FAILURES - 1):
        assert asked(messenger, parts, operator.getitem) == []  # a number has no items
    assert sum(asked(messenger, parts)) == 60  # and all is forgiven
    for _ in range(_messages.FAILURES):
        assert asked(messenger, parts, operator.getitem) == []
    assert asked(messenger, parts) == []


def led(messenger, parts, n=3, function=operator.add):
    return messenger.lead(added_up, parts, n, function, operator.add)


def test_a_worker_leads(client, parts):
    messenger = _messages.Messenger(client)
    n = 60  # enough for workers to trust that work is short
    for trip in (1, 2):
        assert led(messenger, parts, n) == [10 + 5 * i for i in range(n)]
        assert (messenger.n_led, messenger.n_answered) == (trip, trip)
    one = messenger._places[messenger._leader]
    alone = [part for part in parts if part.key in one]
    assert len(led(_messages.Messenger(client), alone)) == 3


def test_the_scheduler_passes_leads_on(client, parts, monkeypatch):
    monkeypatch.setattr(_messages, "PATIENCE", 0.0)
    messenger = _messages.Messenger(client)
    assert led(messenger, parts) == [10, 15, 20]
    assert not messenger.reaches


def test_leads_that_fail_give_no_answer(client, parts):
    messenger = _messages.Messenger(client)
    assert led(messenger, parts)
    assert led(messenger, parts, function=operator.getitem) is None
    for worker, keys in messenger._find(parts).items():
        messenger._places = {**messenger._find(parts), worker: [*keys, "elsewhere"]}
        assert led(messenger, parts) is None
    assert led(messenger, parts) == [10, 15, 20]


@pytest.mark.parametrize("leads", [True, False])
def test_a_worker_that_dies_leaves_no_answer(client, parts, leads):
    messenger = _messages.Messenger(client)
    assert led(messenger, parts)
    (doomed,) = (w for w in messenger._places if (w == messenger._leader) == leads)
    keys = messenger._places[doomed]
    last = max(float(i) for i, part in enumerate(parts) if part.key in keys)
    assert led(messenger, parts, function=partial(killed_at, last=last)) is None
    while doomed in client.nthreads():  # until the scheduler knows
        time.sleep(0.05)
