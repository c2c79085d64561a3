"""A real browser without a window: Debian's chromium, or another that speaks its protocol."""

import shutil
from contextlib import contextmanager

import pytest
from selenium import webdriver

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@contextmanager
def running_browser(profile, *, requests=False):
    """A browser with a fresh profile, which keeps what pages write to the console.

    With `requests` it also keeps what they ask the network for.
    """
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("needs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    logs = {"browser": "ALL", **({"performance": "ALL"} if requests else {})}
    options.set_capability("goog:loggingPrefs", logs)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
