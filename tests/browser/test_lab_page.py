"""The page of the laboratory in a real browser."""

import time

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from support_browser import running_browser
from support_page import running_page

from edgewise.lab.page import server

# A control may tell of a change a moment after the driver has made it.
SETTLE = "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 10))"
UNNAMED = """
  return [...document.querySelectorAll("button, input, select, [role=img], [role=grid]")]
    .filter((e) => !(e.labels?.length || e.ariaLabel || e.textContent.trim()
                     || e.getAttribute("aria-labelledby")))
    .map((e) => e.outerHTML);
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with running_browser(tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


@pytest.fixture(scope="module")
def address():
    with running_page() as listening:
        yield server.address(listening)


class Page:
    """The page as a person sees it: by id, after everything has been computed."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        self.panel = "dynamics"

    def open(self, panel):
        self.panel = panel
        self.browser.get("about:blank")  # so that the page starts anew
        self.browser.get(f"{self.address}#{panel}")
        self.wait()

    def __getitem__(self, name):
        return self.browser.find_element(By.ID, name)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(self):
        """Until the panel has its answer."""
        self.browser.execute_async_script(SETTLE)
        self.until(lambda: self[self.panel].get_attribute("aria-busy") == "false")

    def until(self, condition):
        WebDriverWait(self.browser, 10, poll_frequency=0.02).until(lambda _: condition())

    def click(self, name):
        self[name].click()
        self.wait()

    def choose(self, name, value):
        Select(self[name]).select_by_value(value)
        self.wait()

    def write(self, element, text):
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(str(text))
        self.wait()

    def texts(self, selector):
        return [element.text for element in self.all(selector)]

    def point(self):
        return tuple(float(self["point"].get_attribute(c)) for c in ("cx", "cy"))

    def alert(self):
        return self.browser.find_element(By.CSS_SELECTOR, f"#{self.panel} .alert")

    def width_beyond_window(self):
        script = "return document.documentElement.scrollWidth - window.innerWidth"
        return self.browser.execute_script(script)


@pytest.fixture
def closed(browser, address):
    """A page, not open yet, that must not complain on the console."""
    browser.get_log("browser")
    yield Page(browser, address)
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]
    assert [c for c in complaints if " 400 (Bad Request)" not in c["message"]] == []


@pytest.fixture
def page(closed):
    """The page with the tab of the dynamics."""
    closed.open("dynamics")
    return closed


@pytest.fixture
def table(closed):
    """The page with the tab of the truth table."""
    closed.open("truth-table")
    return closed


# --- dynamics ------------------------------------------------------------------------------------


def test_it_loads_from_this_machine_only(page, address):
    assert page.browser.title == "edgewise lab"
    assert page["tab-dynamics"].get_attribute("aria-selected") == "true"
    assert not page.alert().is_displayed()
    script = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    loaded = page.browser.execute_script(script)
    assert len(loaded) > 8
    assert [name for name in loaded if not name.startswith(address)] == []


def test_three_by_three_shows_its_cycle(page):
    page.choose("matrix-name", "4x4")
    page.choose("matrix-name", "3x3")
    assert page["cycle-verdict"].text.startswith("A stable cycle of 3 steps")
    assert page.texts("#cycle-steps .edge") == ["0.6180"] * 3
    assert sorted(page.texts("#cycle-steps .chip")) == ["h0", "h1", "h2"]
    assert "0.333333" in page["cycle-facts"].text
    assert len(page.all("#orbit .region")) == 3
    assert len(page.all("#orbit .zero-edge")) == 3


def test_the_cycle_can_be_proved(page):
    page["prove"].click()
    page.until(lambda: "Proved" in page["proof"].text)
    assert "and it is stable" in page["proof"].text
    assert "0.61803398874989484820458683436" in page["proof"].text


def test_a_missed_margin_is_reported(page):
    page.choose("matrix-name", "8x8")
    assert "misses the maximum margin by 0.0417" in page["cycle-verdict"].text
    page.choose("rule-name", "arc-gv")
    assert page["cycle-verdict"].text.startswith("No cycle: under this rule")


def test_steps_move_the_point(page):
    start = page.point()
    assert page["now"].text == "after 0 steps · takes h0 with edge 0.3333"
    page["go-on"].click()
    assert page["now"].text == "after 1 step, margin −1.0000 · takes h1 with edge 0.5000"
    assert page.texts("#matrix .number") == ["0.500", "0.250", "0.250"]
    assert page.texts("#matrix th.taken") == ["h1"]
    moved = page.point()
    assert moved != start
    page["go-back"].click()
    assert page.point() == start
    page["go-last"].click()
    assert page["now"].text.startswith("after 60 steps")


def test_playing_moves_the_point_and_pausing_stops_it(page):
    page.browser.execute_script("document.getElementById('speed').value = 5")
    start = page.point()
    page["play"].click()
    assert page["play"].get_attribute("aria-label") == "Pause"
    page.until(lambda: page.point() != start and int(page["step"].get_attribute("value")) > 2)
    page["play"].click()
    stopped = page.point()
    time.sleep(0.2)
    assert page.point() == stopped
    assert page["play"].get_attribute("aria-label") == "Play"


def test_playing_ends_at_the_last_step(page):
    page.write(page["n-steps"], 5)
    page.browser.execute_script("document.getElementById('speed').value = 7")
    page["play"].click()
    page.until(lambda: page["play"].get_attribute("aria-label") == "Play")
    assert page["now"].text.startswith("after 5 steps")


def test_keys(page):
    body = page.browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page["now"].text.startswith("after 2 steps")
    body.send_keys(Keys.END)
    assert page["now"].text.startswith("after 60 steps")
    body.send_keys(Keys.HOME)
    assert page["now"].text.startswith("after 0 steps")
    body.send_keys(" ")
    assert page["play"].get_attribute("aria-label") == "Pause"
    body.send_keys(" ")
    assert page["play"].get_attribute("aria-label") == "Play"
    cell = page.all("#matrix .cell")[0]
    cell.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    focused = page.browser.switch_to.active_element
    assert focused.get_attribute("aria-label") == "example 1, classifier 1: wrong"
    focused.send_keys(" ")
    page.wait()
    focused = page.browser.switch_to.active_element
    assert focused.get_attribute("aria-label") == "example 1, classifier 1: right"


def test_editing_a_cell_changes_the_result(page):
    before = page["cycle-verdict"].text
    path = page.all("#orbit .orbit-path")[0].get_attribute("d")
    page.all("#matrix .cell")[0].click()
    page.wait()
    assert page["matrix-name"].get_attribute("value") == "own"
    assert page["cycle-verdict"].text != before
    assert "right on every example" in page["cycle-verdict"].text
    assert page.all("#orbit .orbit-path")[0].get_attribute("d") != path
    page.all("#matrix .cell")[0].click()
    page.wait()
    assert page["cycle-verdict"].text == before


def test_rows_and_columns_can_be_added_and_removed(page):
    for name in ("row-more", "column-more"):
        page.click(name)
    assert len(page.all("#matrix .cell")) == 16
    assert page.texts("#row-count, #column-count") == ["4", "4"]
    assert page["cycle-verdict"].text.startswith("A stable cycle of 4 steps")
    for name in ("row-less", "column-less"):
        page.click(name)
    assert page.texts("#cycle-steps .edge") == ["0.6180"] * 3


def test_the_start_can_be_chosen(page):
    equal = page.point()
    page.click("start-random")
    page.until(lambda: page.point() != equal)
    assert page["start-random"].get_attribute("aria-pressed") == "true"
    page.click("start-equal")
    page.until(lambda: page.point() == equal)
    page.browser.find_element(By.CSS_SELECTOR, "#start-details summary").click()
    slider = page.all("#start-sliders input")[0]
    slider.send_keys(Keys.END)
    page.wait()
    assert page.texts("#start-sliders output") == ["1.000", "0.000", "0.000"]
    assert page.texts("#matrix .number") == ["1.000", "0.000", "0.000"]


def test_the_start_can_be_dragged(page):
    ring = page.all("#orbit .start")[-1]
    before = page.texts("#matrix .number")
    webdriver.ActionChains(page.browser, 0).drag_and_drop_by_offset(ring, 40, 20).perform()
    page.until(lambda: page.texts("#matrix .number") != before)
    assert page["start-equal"].get_attribute("aria-pressed") == "false"


def test_large_random_matrices(page):
    page.choose("matrix-name", "random")
    page.until(lambda: len(page.all("#matrix .cell")) == 144)
    page.wait()
    page.choose("projection", "pair")
    assert "weight of example" in page["orbit"].text
    page.click("start-random")
    assert not page.alert().is_displayed()


def test_only_allowed_columns_are_taken(page):
    page.choose("matrix-name", "4x5")
    assert set(page.texts("#cycle-steps .chip")) == {"h2", "h3", "h4"}
    for j in range(2):
        page.all("#matrix .head")[j].click()
        page.wait()
    assert set(page.texts("#cycle-steps .chip")) == {"h0", "h1", "h2", "h3"}
    assert "reaches the maximum margin" in page["cycle-verdict"].text


def test_errors_are_shown_and_go_away(page):
    page.write(page["n-steps"], 0)
    assert "must be an integer from 1 to 20000. Got 0" in page.alert().text
    page.write(page["n-steps"], 30)
    assert not page.alert().is_displayed()
    assert page["step"].get_attribute("max") == "30"


def test_the_chart_seeks(page):
    chart = page["chart"]
    webdriver.ActionChains(page.browser, 0).move_to_element(chart).click().perform()
    assert 20 < int(page["step"].get_attribute("value")) < 40


# --- truth table ---------------------------------------------------------------------------------


def counts(page):
    return page.all("#cells input")


def errors(page):
    rows = page.all("#vote-table tbody tr")
    return {
        row.get_attribute("data-vote"): int(row.find_element(By.CLASS_NAME, "errors").text)
        for row in rows
    }


def test_tabs_change_the_panel(page):
    page["tab-truth-table"].click()
    assert page["truth-table"].is_displayed()
    assert not page["dynamics"].is_displayed()
    page["tab-truth-table"].send_keys(Keys.ARROW_LEFT)
    assert page["dynamics"].is_displayed()
    assert page.browser.switch_to.active_element == page["tab-dynamics"]


def test_the_table_is_computed(table):
    assert errors(table) == {"adaboost": 42, "minimiser": 32, "zero_one": 32}
    assert table["minimum-verdict"].text.startswith("One minimiser")
    marks = [e.text for e in table.all("#cells td[data-vote=minimiser]")]
    assert marks == ["✓", "✗"] * 4
    assert len(table.all("#votes .vote-region")) == 7
    assert "κ ≥ 0.0019" in table["kappa"].text
    assert len(table.all("#votes .path-dot")) == 3


def test_editing_a_count_updates_everything(table):
    place, betas = table["minimiser"].get_attribute("d"), table.texts("#vote-table .beta")
    table.write(counts(table)[0], 60)
    assert table["table-name"].get_attribute("value") == "own"
    assert table["minimiser"].get_attribute("d") != place
    assert table.texts("#vote-table .beta") != betas


def test_a_table_without_a_minimum(table):
    Select(table["table-name"]).select_by_visible_text("A vote without error")
    table.wait()
    assert table["minimum-verdict"].text.startswith("No minimum: along (1, 1, 1)")
    assert errors(table) == {"adaboost": 0, "zero_one": 0}
    assert table.all("#minimiser") == []


def test_options_of_learning(table):
    Select(table["table-name"]).select_by_visible_text("A coefficient below zero")
    table.wait()
    assert errors(table)["adaboost"] == 31
    table.click("negations")
    assert errors(table)["adaboost"] == 24
    risks = table.texts("#vote-table td")
    table.choose("loss", "logistic")
    assert table.texts("#vote-table td") != risks
    table.choose("boost-rule", "historical")
    assert not table.alert().is_displayed()


def test_errors_of_the_table_are_shown_and_go_away(table):
    table.write(counts(table)[1], -3)
    assert "four pairs of integers from 0" in table.alert().text
    table.write(counts(table)[1], 3)
    assert not table.alert().is_displayed()
    for field in counts(table):
        field.send_keys(Keys.CONTROL, "a", Keys.NULL, "0")
    table.wait()
    assert "positive" in table.alert().text


# --- both ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("panel", ["dynamics", "truth-table"])
def test_every_control_has_a_name(closed, panel):
    closed.open(panel)
    assert closed.browser.execute_script(UNNAMED) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_it_fits_every_window(closed, size, scheme):
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    feature = {"name": "prefers-color-scheme", "value": scheme}
    closed.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    closed.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        for panel in ("dynamics", "truth-table"):
            closed.open(panel)
            assert closed.width_beyond_window() <= 0
        paper = closed.browser.execute_script(
            "return getComputedStyle(document.body.parentNode).color"
        )
        assert (paper == "rgb(228, 227, 223)") == (scheme == "dark")
    finally:
        closed.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        closed.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
