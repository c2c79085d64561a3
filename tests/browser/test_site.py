"""The site in a real browser: it builds without warnings, and its search answers newcomers."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from support_browser import running_browser

pytest.importorskip("material", reason="the extra docs")
pytest.importorskip("mkdocstrings", reason="the extra docs")

PROJECT = Path(__file__).parents[2]
PAGES = ["index", "tutorial", "how_it_works", "benchmarks", "api_estimators", "faq"]
TOO_WIDE = "return document.documentElement.scrollWidth - window.innerWidth;"
BEST = """
  const best = document.querySelector(".md-search-result__list > li a[href*='#']");
  return best && best.getAttribute("href").split("/").pop().replace(/\\?[^#]*/, "");
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(name="site", scope="module")
def built_site(tmp_path_factory):
    """The address of the site, built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        words, cwd=PROJECT, env=quiet, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(name="browser", scope="module")
def one_browser(tmp_path_factory):
    with running_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which class do I start with", "faq.html#which-class-do-i-start-with"),
        ("how do I pass categories", "faq.html#how-do-i-pass-categories"),
        ("missing values", "faq.html#what-about-missing-values"),
        ("how many rounds", "faq.html#how-many-rounds-do-i-need"),
        ("what does calibration do", "faq.html#what-does-calibration-do"),
        ("rare class never predicted", "faq.html#why-does-my-model-never-predict-the-rare-class"),
        ("can I load the model elsewhere", "faq.html#can-i-load-the-model-elsewhere"),
        ("why did the model predict this", "faq.html#why-did-the-model-predict-this"),
        ("num_leaves", "faq.html#what-is-num_leaves-here"),
        ("same model every time", "faq.html#do-i-get-the-same-model-every-time"),
        ("several labels per row", "faq.html#can-a-row-have-several-labels"),
        ("ordered classes", "faq.html#what-if-the-classes-have-an-order"),
    ],
)
def test_the_search_answers_a_newcomer(site, browser, question, answer):
    browser.get(f"{site}/index.html")
    toggle = "document.querySelector('[data-md-toggle=search]').click()"
    browser.execute_script(toggle)
    box = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    browser.execute_script("arguments[0].focus()", box)
    box.send_keys(question)
    WebDriverWait(browser, 30).until(lambda page: page.execute_script(BEST) == answer)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_wider_than_a_phone(site, browser, page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(f"{site}/{page}.html")
        assert browser.execute_script(TOO_WIDE) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_first_page_has_the_table_of_the_readme(site, browser):
    browser.get(f"{site}/index.html")
    rows = browser.find_elements(By.CSS_SELECTOR, "table:first-of-type tbody tr")
    names = [row.text for row in rows]
    assert any("AutoBoostClassifier" in name for name in names)
    assert any("CatBoost" in name for name in names)
