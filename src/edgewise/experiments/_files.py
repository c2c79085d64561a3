"""What a run leaves in its folder besides the cells: results, a page and pictures of each."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ._page import page
from ._store import RunFolderError
from ._types import Picture


def write_results(folder: Path, results: Mapping[str, Any]) -> list[Path]:
    """NAME-SCALE.json and NAME-SCALE.md, each whole or not at all."""
    stem = f"{results['experiment']}-{results['scale']}"
    texts = {
        folder / f"{stem}.json": json.dumps(results, indent=1, allow_nan=False) + "\n",
        folder / f"{stem}.md": page(results),
    }
    for path, text in texts.items():
        write_whole(path, text.encode())
    return list(texts)


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, then rename: a reader never sees half a file."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}") from None


def draw_pictures(
    folder: Path, stem: str, pictures: Sequence[Picture]
) -> tuple[list[dict[str, str]], str | None]:
    """PNG files; a line instead where matplotlib is missing."""
    if not pictures:
        return [], None
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        return [], "no pictures: they need matplotlib, of the extra 'plot'"
    drawn = []
    for picture in pictures:
        figure = Figure(figsize=picture.size, layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure)
        file = f"{stem}-{picture.name}.png"
        figure.savefig(folder / file, dpi=90)
        drawn.append({"name": picture.name, "title": picture.title, "file": file})
    return drawn, None
