"""python -m edgewise.cli"""

from . import app

app()
