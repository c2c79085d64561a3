"""The server of the page: who is let in, what is refused, and that nothing leaks."""

import json

import pytest
from support_page import Client, running_page

from edgewise.lab.page import server

WALK = {"matrix": [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]}
TABLE = {"counts": [[38, 15], [19, 1], [18, 8], [19, 8]]}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client():
    with running_page() as listening:
        yield Client(listening)


def test_it_listens_on_this_machine_only():
    with server.listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert server.address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}/"


def test_files_of_the_page(client):
    for path, kind in [
        ("/", "text/html"),
        ("/index.html", "text/html"),
        ("/style.css", "text/css"),
        ("/app.js", "javascript"),
        ("/icon.svg", "image/svg+xml"),
    ]:
        status, headers, body = client.get(path)
        assert status == 200, path
        assert kind in headers["Content-Type"]
        assert body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "localhost:8765"])
def test_own_names_are_answered(client, host):
    assert client.get("/", Host=host)[0] == 200


@pytest.mark.parametrize("host", ["example.org", "example.org:8765", "127.0.0.1.example.org", ""])
@pytest.mark.parametrize("path", ["/", "/api/examples"])
def test_foreign_names_are_refused(client, host, path):
    """A name of another site may be made to resolve to this machine."""
    status, _, body = client.get(path, Host=host)
    assert status == 400
    assert body == b"Invalid host header"


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/../../dynamics.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/..%2f..%2f..%2f__init__.py",
        "/static/../../server.py",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/..\\server.py",
        "/app.js%00.html",
        "/nothing.html",
    ],
)
def test_no_file_outside_the_folder(client, path):
    status, _, body = client.get(path)
    assert status == 404
    assert "error" in json.loads(body)


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", {}),
        ("GET", "/api/examples", {}),
        ("GET", "/nothing", {}),
        ("POST", "/api/walk", JSON),
        ("GET", "/", {"Host": "example.org"}),
    ],
)
def test_headers_keep_the_page_to_itself(client, method, path, headers):
    _, sent, _ = client.send(method, path, b"{}" if method == "POST" else None, headers)
    policy = sent["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert sent["X-Content-Type-Options"] == "nosniff"
    assert sent["Cross-Origin-Resource-Policy"] == "same-origin"
    assert sent["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in sent


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_question_must_be_declared_as_json(client, kind):
    """What another site can send without asking is refused."""
    status, _, body = client.send("POST", "/api/walk", json.dumps(WALK), {"Content-Type": kind})
    assert status == 415
    assert "application/json" in json.loads(body)["error"]


def test_a_request_for_another_site_is_refused(client):
    headers = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    status, sent, _ = client.send("OPTIONS", "/api/walk", headers=headers)
    assert status == 405
    assert "Access-Control-Allow-Origin" not in sent


def test_large_questions_are_refused(client):
    status, _, body = client.send("POST", "/api/walk", b" " * 200_001, JSON)
    assert status == 413
    assert "at most 200000 bytes" in json.loads(body)["error"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"nonsense", b"[" * 5000, b"\xff\xfe\xfd", b"1" * 5000]
)
def test_invalid_json_is_refused(client, body):
    status, _, answer = client.send("POST", "/api/walk", body, JSON)
    assert status == 400
    assert "question" in json.loads(answer)["error"]


@pytest.mark.parametrize(
    ("path", "question", "message"),
    [
        ("/api/walk", [], "must be a JSON object. Got a list"),
        ("/api/walk", {}, "matrix is missing"),
        ("/api/walk", WALK | {"step": 3}, "Got 'step' too"),
        ("/api/walk", {"matrix": 7}, "Got a int"),
        ("/api/walk", {"matrix": []}, "Got 0 rows"),
        ("/api/walk", {"matrix": [[]]}, "1 rows with 0 entries"),
        ("/api/walk", {"matrix": [[1, 1], [1]]}, "2 rows with 1, 2 entries"),
        ("/api/walk", {"matrix": [[1]] * 61}, "1 to 60 rows"),
        ("/api/walk", {"matrix": [[1] * 61]}, "1 to 60 entries"),
        ("/api/walk", {"matrix": [[1, 0]]}, "+1 (right) and -1 (wrong) only"),
        ("/api/walk", {"matrix": [[1, "x"]]}, "must be a list of numbers"),
        ("/api/walk", {"matrix": [[1, None]]}, "must be a list of numbers"),
        ("/api/walk", {"matrix": [[True, False]]}, "must be a list of numbers"),
        ("/api/walk", {"matrix": [[float("nan")]]}, "must be a list of numbers"),
        ("/api/walk", {"matrix": [[10**400]]}, "must be a list of numbers"),
        ("/api/walk", WALK | {"start": [0.5, 0.5]}, "one number per example"),
        ("/api/walk", WALK | {"start": [0.5, 0.6, -0.1]}, "on the simplex"),
        ("/api/walk", WALK | {"start": "equal"}, "must be a list of numbers"),
        ("/api/walk", WALK | {"n_steps": 0}, "an integer from 1 to 20000. Got 0"),
        ("/api/walk", WALK | {"n_steps": 20001}, "from 1 to 20000"),
        ("/api/walk", {"matrix": [[1]] * 60, "n_steps": 3334}, "on 60 examples must be"),
        ("/api/walk", WALK | {"n_steps": 2.5}, "Got 2.5"),
        ("/api/walk", WALK | {"n_steps": None}, "'n_steps'"),
        ("/api/walk", WALK | {"n_skipped": 1_000_001}, "from 0 to 1000000"),
        ("/api/walk", WALK | {"ties": "none"}, "'lowest', 'highest'"),
        ("/api/walk", WALK | {"rule": "fast"}, "'optimal', 'threshold'"),
        ("/api/walk", WALK | {"rule": {"name": "fast"}}, "'optimal', 'threshold'"),
        ("/api/walk", WALK | {"rule": {"name": []}}, "'optimal', 'threshold'"),
        ("/api/walk", WALK | {"rule": {"name": "arc-gv", "nu": 1}}, "Got 'nu' too"),
        ("/api/walk", WALK | {"rule": {"name": "adaboost-star", "nu": 2}}, "'nu'"),
        ("/api/walk", WALK | {"rule": {"name": "threshold", "columns": [3]}}, "from 0 to 2"),
        ("/api/walk", WALK | {"rule": {"name": "threshold", "columns": 1}}, "must be a list"),
        ("/api/walk", WALK | {"rule": {"name": "threshold", "at_least": 3}}, "'at_least'"),
        ("/api/proof", WALK | {"rule": {"name": "arc-gv"}}, "no cycle to prove: under this rule"),
        ("/api/proof", {"matrix": [[1]]}, "no cycle to prove"),
        ("/api/random-matrix", {"m": 3}, "n, error_rate, random_state is missing"),
        (
            "/api/random-matrix",
            {"m": 61, "n": 3, "error_rate": 0.5, "random_state": 0},
            "from 1 to 60",
        ),
        (
            "/api/random-matrix",
            {"m": 3, "n": 3, "error_rate": 1.5, "random_state": 0},
            "'error_rate'",
        ),
        ("/api/random-start", {"m": 3, "random_state": -1}, "'random_state'"),
        ("/api/truth-table", {"counts": [[1, 2]] * 3}, "four pairs of integers"),
        ("/api/truth-table", {"counts": [[1, 2]] * 3 + [[1]]}, "four pairs of integers"),
        ("/api/truth-table", {"counts": [[1, 2]] * 3 + [[1, -1]]}, "four pairs of integers"),
        ("/api/truth-table", {"counts": [[1, 2]] * 3 + [[1, 0.5]]}, "four pairs of integers"),
        ("/api/truth-table", {"counts": [[0, 0]] * 4}, "positive"),
        ("/api/truth-table", TABLE | {"loss": "hinge"}, "'exponential', 'logistic'"),
        ("/api/truth-table", TABLE | {"rule": "lazy"}, "'greedy', 'historical'"),
        ("/api/truth-table", TABLE | {"n_rounds": 201}, "from 1 to 200"),
        ("/api/truth-table", TABLE | {"reuse": 1}, "True or False"),
    ],
)
def test_bad_questions_get_one_clear_error(client, path, question, message):
    status, answer = client.ask(path, question)
    assert status == 400, answer
    assert list(answer) == ["error"]
    assert message in answer["error"]


def test_long_messages_are_cut(client):
    status, answer = client.ask("/api/walk", {"matrix": [["x" * 10_000]]})
    assert status == 400
    assert len(answer["error"]) == 600


def test_non_finite_numbers_become_null():
    given = {"a": float("inf"), "b": [float("nan"), 1.5], "c": (True, None, "x")}
    assert server.plain(given) == {"a": None, "b": [None, 1.5], "c": [True, None, "x"]}


def test_an_internal_error_is_reported_and_the_server_continues(monkeypatch, caplog):
    def broken(_):
        raise RuntimeError("out of order")

    monkeypatch.setitem(server._ANSWERS, "/api/walk", broken)
    with running_page() as listening:
        client = Client(listening)
        status, answer = client.ask("/api/walk", WALK)
        assert status == 500
        assert answer == {"error": "edgewise failed with RuntimeError: out of order"}
        assert client.get("/")[0] == 200
