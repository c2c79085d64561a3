"""edgewise export: write a model in another format."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .._ground.atomic import write_bytes
from ..export import to_c, to_onnx, to_python, to_treelite
from . import _options as o
from ._failures import guarded
from ._models import STDOUT, load_model, need_place
from ._screen import say, show_json, size

EPILOG = o.examples(
    "edgewise export cars.edgewise --to onnx",
    "edgewise export cars.edgewise --to c --out cars.c",
)


class Form(StrEnum):
    """The formats of an exported model."""

    ONNX = "onnx"
    TREELITE = "treelite"
    C = "c"
    PYTHON = "python"


_ENDINGS = {Form.ONNX: ".onnx", Form.TREELITE: ".treelite", Form.C: ".c", Form.PYTHON: ".py"}


@guarded
def export(
    model: o.ModelFile,
    to: Annotated[Form, typer.Option(help="The format to write.", show_default=False)],
    out: Annotated[
        Path | None,
        o.option(
            "The file to write, or - for standard output. Default: the name of the model with "
            "another ending."
        ),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Write a model as ONNX, treelite, C or Python, after comparing it with the original."""
    if str(out) == STDOUT:
        if as_json:
            raise typer.BadParameter("--out - and --json exclude each other.")
        sys.stdout.buffer.write(_content(load_model(model), to))
        return
    place = model.with_suffix(_ENDINGS[to]) if out is None else out
    need_place(place, model)
    content = _content(load_model(model), to)
    write_bytes(place, content)
    if as_json:
        facts = {"model": str(model), "form": to.value, "out": str(place), "bytes": len(content)}
        show_json(facts)
    else:
        say(f"{to.value}: {place} ({size(len(content))})")


def _content(fitted: Any, to: Form) -> bytes:
    match to:
        case Form.ONNX:
            return bytes(to_onnx(fitted).SerializeToString())
        case Form.TREELITE:
            return bytes(to_treelite(fitted).serialize_bytes())
        case Form.C:
            return to_c(fitted).encode()
        case Form.PYTHON:
            return to_python(fitted).encode()
