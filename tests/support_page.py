"""The page of the laboratory, running in this process, and plain requests to it."""

import http.client
import json
import threading
import time
from contextlib import contextmanager

from edgewise.lab.page import server


@contextmanager
def running_page():
    """Serves the page on a free port; gives its socket."""
    listening = server.listen(0)
    running = server.make_server()
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not running.started and thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert running.started
        yield listening
    finally:
        running.should_exit = True
        thread.join(20)
        listening.close()
    assert not thread.is_alive()


class Client:
    """Sends requests as they are, without tidying paths or headers."""

    def __init__(self, listening):
        self.port = listening.getsockname()[1]

    def send(self, method, path, body=None, headers=None):
        """Status, headers and body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.send("GET", path, headers=headers)

    def ask(self, path, question):
        """Status and JSON of the answer to a question."""
        headers = {"Content-Type": "application/json"}
        status, _, body = self.send("POST", path, json.dumps(question), headers)
        return status, json.loads(body)
