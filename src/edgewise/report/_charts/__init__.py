"""Charts as Vega-Lite specifications, each with its figures as a table.

Fields have fixed names, and the labels of the user occur only in the data, so that no label is read
as a part of a specification. {"css": "--ink"} is a colour of the page (static/page.js).
"""

from ._bars import bars_chart, grouped_bars_chart, heat_chart, histogram_chart
from ._confusion import confusion_chart
from ._lines import history_chart, rounds_chart
from ._methods import methods_chart, time_chart
from ._probability import confidence_chart, margin_chart, reliability_chart

__all__ = [
    "bars_chart",
    "confidence_chart",
    "confusion_chart",
    "grouped_bars_chart",
    "heat_chart",
    "histogram_chart",
    "history_chart",
    "margin_chart",
    "methods_chart",
    "reliability_chart",
    "rounds_chart",
    "time_chart",
]
