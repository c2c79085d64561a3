"""Messages to workers: the same sums as by tasks, or no answer."""

import operator

import distributed
import pytest

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
