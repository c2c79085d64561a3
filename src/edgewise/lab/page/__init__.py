"""The page of the laboratory: an interactive local web page, `edgewise lab serve`.

The browser draws; every number it shows is computed by `edgewise.lab.dynamics` or
`edgewise.lab.truth_table`. Needs starlette and uvicorn, of the extra ``lab``.

server        listens on this machine only, hands out the files in `static`, answers questions
_walk         the answers about a margin matrix
_table        the answers about a truth table of three classifiers
_asked        the questions, checked
_triangle     the regions that the two pictures show
"""
