"""The command line."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
import typer
from support_cli import run

import edgewise
from edgewise import cli
from edgewise.cli._app import commands
from edgewise.lab import page
from edgewise.lab.page import server

GROUPS = {"": "compare", "lab": "lab serve"}  # with the command of their examples
COMMANDS = [*GROUPS, *typer.main.get_command(commands).commands, "lab serve"]


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS), ids=str)
def test_help_has_an_example(command):
    shown = run(*command.split(), "--help")
    assert shown.exit_code == 0
    example = GROUPS.get(command, command)
    assert re.search(rf"Examples?:\s+edgewise {example}\b", shown.stdout)


def test_help_tells_the_exit_codes():
    shown = " ".join(run("--help").stdout.split())
    assert "Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted." in shown


def test_version():
    assert run("--version").stdout == f"edgewise {edgewise.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["lab", "serve", "--port", "70000"], "--port"), (["lab", "fly"], "fly")],
)
def test_wrong_usage(arguments, name):
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert name in refused.stderr


@pytest.mark.parametrize(("options", "opened"), [([], True), (["--no-browser"], False)])
def test_serve_passes_its_options(monkeypatch, options, opened):
    seen = {}

    def serve(listening, *, open_browser):
        with listening:
            seen.update(address=server.address(listening), open_browser=open_browser)

    monkeypatch.setattr(server, "serve", serve)
    done = run("lab", "serve", "--port", "0", *options)
    assert done.exit_code == 0
    assert seen["open_browser"] is opened
    assert done.stdout == f"The laboratory is at {seen['address']} (Ctrl-C stops it)\n"


@pytest.mark.skipif(os.name != "posix", reason="sends an interrupt as Ctrl-C does")
def test_serve_until_interrupted():
    serving = subprocess.Popen(
        [sys.executable, "-m", "edgewise.cli", "lab", "serve", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", serving.stdout.readline()).group()
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"<title>edgewise lab</title>" in answer.read()
        serving.send_signal(signal.SIGINT)
        rest, complaints = serving.communicate(timeout=30)
    finally:
        serving.kill()
        serving.wait()
    assert serving.returncode == 0
    assert (rest, complaints) == ("", "")


def test_a_port_in_use_is_reported():
    with server.listen(0) as taken:
        port = str(taken.getsockname()[1])
        refused = run("lab", "serve", "--port", port, "--no-browser")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"Port {port} cannot be used: Address already in use.")


def test_the_browser_is_sent_to_the_page(monkeypatch):
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: None)
    listening = server.listen(0)
    address = server.address(listening)
    server.serve(listening)
    for thread in server.threading.enumerate():
        if thread.daemon and thread.name.startswith("edgewise"):
            thread.join(10)
    assert opened == [address]


@pytest.mark.parametrize("missing", ["typer", "rich.box"])
def test_without_a_library_of_the_command_line_the_extra_is_named(monkeypatch, missing):
    for module in [name for name in sys.modules if name.startswith("edgewise.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(cli, module.removeprefix("edgewise.cli."), raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    name = missing.partition(".")[0]
    with pytest.raises(SystemExit, match=f"needs {name}: install edgewise with the extra 'cli'"):
        cli.app()


@pytest.mark.parametrize(
    ("missing", "name"), [("starlette.applications", "starlette"), ("uvicorn", "uvicorn")]
)
def test_without_a_library_of_the_page_the_extra_is_named(monkeypatch, missing, name):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "edgewise.lab.page.server")
    monkeypatch.delattr(page, "server")
    refused = run("lab", "serve", "--port", "0", "--no-browser")
    assert refused.exit_code == 1
    assert f"needs {name}: install edgewise with the extra 'lab'" in refused.stderr


def test_the_library_loads_none_of_them():
    code = (
        "import sys, edgewise.lab.dynamics, edgewise.lab.truth_table, edgewise.cli;"
        "print(sorted({'typer', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
