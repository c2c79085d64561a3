"""Reports in a real browser: drawn, quiet, offline, in both colours and on a phone."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from support import table
from support_browser import running_browser

import edgewise
from edgewise import report

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

HOSTILE = "<b onmouseover=alert(1)>bold</b>"
LIMIT = 3_000_000  # bytes of a report
UNNAMED = """
  return [...document.querySelectorAll("button, a, img, [role=region], svg.marks")]
    .filter((e) => !(e.ariaLabel || e.getAttribute("aria-label") || e.textContent.trim() || e.alt))
    .map((e) => e.outerHTML.slice(0, 200));
"""
EMPTY_CHARTS = """
  return [...document.querySelectorAll(".chart")]
    .filter((e) => e.querySelectorAll("svg .mark-group path, svg .role-mark path, "
                                      + "svg .role-mark line").length === 0)
    .map((e) => e.id);
"""
TOO_WIDE = """
  return [...document.querySelectorAll("section, figure, svg.marks, .tiles > div, pre, .scroll")]
    .filter((e) => e.getBoundingClientRect().right > window.innerWidth + 0.5)
    .map((e) => e.outerHTML.slice(0, 100));
"""


def model_page():
    X, y = table(0, n=300, noise=0.2)
    names = np.array(["low", HOSTILE, "high"])
    model = edgewise.AdaBoostMHClassifier(n_estimators=12).fit(X[:200], names[y[:200]])
    return model.report(X[200:], names[y[200:]], X_train=X[:200], y_train=names[y[:200]])


def base_class_page():
    X, y = table(1, K=5, n=200)
    model = edgewise.ABCLogitBoostClassifier(n_estimators=8, n_iter_no_change=3)
    model.fit(X[:120], y[:120], X_val=X[120:160], y_val=y[120:160])
    return model.report(X[160:], y[160:])


def labels_page():
    X, y = table(2)
    Y = np.eye(3, dtype=int)[y]
    Y[:, 0] |= X[:, 1] > 0
    return edgewise.AdaBoostMHClassifier(n_estimators=6).fit(X, Y).report(X, Y)


def many_classes_page():
    X, y = table(3, n=1200, K=120, d=200, noise=0.0)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=4, min_samples_leaf=2).fit(X, y)
    return model.report(X, y, X_train=X, y_train=y)


def comparison_page():
    X, y = table(4, n=200)
    model = edgewise.MARTClassifier(n_estimators=6).fit(X[:100], y[:100])
    said, proba = model.predict(X[100:]), model.predict_proba(X[100:])
    results = [
        report.MethodResult(
            m, e, (e - 0.02, e + 0.02), 0.4, 0.2, 0.05, s, 0.01, 9999, [e, e + 0.01]
        )
        for m, e, s in (("MART", 0.1, 0.5), ("a method of a long name", 0.12, 2.0))
    ]
    curves = [report.LearningCurve(r.method, [0.9, 0.3, 0.05], 3) for r in results]
    best = report.HeldOut(y[100:], said, model.classes_, proba, model, X[100:])
    return report.comparison_report(
        report.Comparison("toy", results, "Two folds.", curves=curves, best=best)
    )


def bare_page():
    """As little as there can be, and nothing wrong in it."""
    y = np.array([0, 1] * 5)
    best = report.HeldOut(y, y, [0, 1], np.eye(2)[y])
    results = [report.MethodResult("only", 0.0)]
    return report.comparison_report(report.Comparison("toy", results, best=best))


def experiment_page():
    spec = {"mark": "line", "data": {"values": [{"a": 1, "b": 2}, {"a": 2, "b": 1}]}}
    spec["encoding"] = {
        n: {"field": f, "type": "quantitative"} for n, f in zip("xy", "ab", strict=True)
    }
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='40'></svg>"
    rows = [["Letter", 2.5, 2.4, report.Verdict("agrees")]]
    parts = [
        report.Table(["data", "paper", "ours", "verdict"], rows),
        report.Chart(spec, "a line"),
        report.Image(picture, "a picture"),
    ]
    section = report.Section("Table 2", ["Errors."], parts)
    return report.experiment_report(report.Experiment("geist", "Geist", [section]))


PAGES = {
    "model": model_page,
    "base_class": base_class_page,
    "labels": labels_page,
    "many_classes": many_classes_page,
    "comparison": comparison_page,
    "bare": bare_page,
    "experiment": experiment_page,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All pages, as files, each made when first asked for."""
    return Folder(tmp_path_factory.mktemp("reports"))


@dataclass
class Folder:
    path: object

    def __getitem__(self, name):
        file = self.path / f"{name}.html"
        if not file.exists():
            PAGES[name]().save(file)
        return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with running_browser(tmp_path_factory.mktemp("profile"), requests=True) as chrome:
        yield chrome


class Page:
    """A report as a person sees it, after its charts have been drawn."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder

    def open(self, name):
        self.browser.get(self.folder[name].as_uri())
        self.wait()

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self):
        busy = "return document.documentElement.getAttribute('aria-busy')"
        WebDriverWait(self.browser, 20, 0.02).until(lambda _: self.run(busy) == "false")

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def background(self):
        return self.run("return getComputedStyle(document.documentElement).backgroundColor")

    def line_colour(self):
        return self.run("return document.querySelector('.mark-line path').getAttribute('stroke')")

    def toggle(self):
        self.all("#theme")[0].click()
        self.browser.execute_async_script(
            "requestAnimationFrame(() => setTimeout(arguments[0], 10))"
        )
        self.wait()

    def emulate(self, command, **options):
        self.browser.execute_cdp_cmd(f"Emulation.{command}", options)

    def resize(self, width, height):
        """The window of a phone, or of a smaller one; until the first chart has its new size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 500}
        self.emulate("setDeviceMetricsOverride", **size)
        gap = (
            "const svg = document.querySelector('.chart svg');"
            "return Math.abs(svg.parentElement.clientWidth - svg.clientWidth)"
        )
        WebDriverWait(self.browser, 10, 0.02).until(lambda _: self.run(gap) < 40)

    def prefer(self, colours):
        features = [{"name": "prefers-color-scheme", "value": colours}]
        self.emulate("setEmulatedMedia", features=features)

    def requests(self):
        """Addresses asked for since the last time."""
        events = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [p["request"]["url"] for p in sent]


@pytest.fixture
def page(browser, folder):
    """A page that must not complain on the console, neither error nor warning."""
    opened = Page(browser, folder)
    opened.prefer("light")
    browser.get_log("browser")
    browser.get_log("performance")
    yield opened
    opened.emulate("clearDeviceMetricsOverride")
    assert [e["message"] for e in browser.get_log("browser")] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_drawn_offline_and_fits_a_phone(page, folder, name):
    page.browser.execute_cdp_cmd("Network.enable", {})
    page.open(name)
    assert len(page.all(".chart")) == len(page.all(".chart svg.marks")) > 0
    assert page.run(EMPTY_CHARTS) == []
    assert page.run(UNNAMED) == []
    asked = [a for a in page.requests() if not a.startswith(("data:", "blob:"))]
    assert asked == [folder[name].as_uri()]
    assert folder[name].stat().st_size < LIMIT
    page.resize(375, 740)
    assert page.run("return document.documentElement.scrollWidth") == 375
    assert page.run(TOO_WIDE) == []


def test_colours_follow_the_button_and_the_system(page):
    page.open("model")
    light, line = page.background(), page.line_colour()
    button = page.all("#theme")[0]
    assert "Dark" in button.text
    page.toggle()
    dark = page.background()
    assert dark != light
    assert page.line_colour() != line
    assert "Light" in button.text
    assert len(page.all(".chart svg.marks")) == len(page.all(".chart"))
    page.toggle()
    assert (page.background(), page.line_colour()) == (light, line)
    page.prefer("dark")
    assert page.background() == light  # the choice of the reader stays
    page.open("model")
    assert page.background() == dark


def test_charts_grow_and_shrink_with_the_window(page):
    page.open("model")
    width = "return document.querySelector('.chart svg').getBoundingClientRect().width"
    wide = page.run(width)
    page.resize(600, 800)  # one chart in a row instead of two
    assert page.run(width) > wide
    page.resize(400, 800)
    assert page.run(width) < wide
    assert page.run(TOO_WIDE) == []


def test_tooltips_say_names_as_words(page):
    page.open("model")
    cell = page.all(".mark-rect path")[0]
    page.run("arguments[0].scrollIntoView({block: 'center'})", cell)
    ActionChains(page.browser).move_to_element(cell).perform()
    tooltip = "#vg-tooltip-element.visible"
    WebDriverWait(page.browser, 5, 0.02).until(lambda _: page.all(tooltip))
    assert HOSTILE in page.all(tooltip)[0].text
    assert page.all("b") == []


def test_the_keyboard_reaches_everything(page):
    page.open("model")
    keys = ActionChains(page.browser)
    keys.send_keys(Keys.TAB).perform()
    assert page.browser.switch_to.active_element.get_attribute("class") == "skip"
    keys.send_keys(Keys.TAB).perform()
    button = page.browser.switch_to.active_element
    assert button.get_attribute("id") == "theme"
    assert float(button.value_of_css_property("outline-width").rstrip("px")) >= 2
    summary = page.all("summary")[0]
    page.run("arguments[0].focus()", summary)
    summary.send_keys(Keys.ENTER)
    assert summary.find_element(By.XPATH, "..").get_attribute("open") is not None
    assert page.all("details[open] table")[0].is_displayed()
    regions = page.all(".scroll")
    assert all(r.get_attribute("tabindex") == "0" for r in regions)


def test_links_lead_to_sections(page):
    page.open("comparison")
    for link in page.all("nav a"):
        target = link.get_attribute("href").split("#")[1]
        assert len(page.all(f"#{target} > h2")) == 1


def test_a_notebook_shows_it(page, tmp_path):
    shown = tmp_path / "notebook.html"
    frame = report.Report(page.folder["model"].read_text(encoding="utf-8"), "model")._repr_html_()
    shown.write_text(f"<!doctype html><meta charset=utf-8>{frame}", encoding="utf-8")
    page.browser.get(shown.as_uri())
    page.browser.switch_to.frame(0)
    try:
        page.wait()
        assert len(page.all(".chart svg.marks")) == len(page.all(".chart")) > 5
        assert page.run("return window.origin") == "null"  # it cannot reach the notebook
    finally:
        page.browser.switch_to.default_content()
