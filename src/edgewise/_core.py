"""Stands where the compiled module belongs, and is loaded only where that is missing.

Python prefers ``_core.*.so`` to this file. The linter of imports knows the module by it.
"""

raise ImportError(
    "edgewise's compiled module _core is missing. Build and install the package with "
    "`pip install .`, and import it from outside its source folder."
)
