"""A placeholder that Python loads only if the compiled module is missing.

Python prefers ``_core.*.so`` to this file. The import linter uses the file to find the module.
"""

raise ImportError(
    "edgewise's compiled module _core is missing. Build and install the package with "
    "`pip install .`, and import it from outside its source folder."
)
