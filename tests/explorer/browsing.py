"""A real browser on the explorer: what it shows, what it asked for, and what it complained about."""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

_PATIENCE = 120.0  # seconds, for a machine that is busy
_QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
# All callbacks have answered, words are there, or why there are none, and every picture is drawn.
_SETTLED = """
return document.readyState === "complete" && !document.querySelector("[data-dash-is-loading]")
  && [...document.querySelectorAll("main.view .text, main.view .notice")].some(x => x.childNodes.length)
  && [...document.querySelectorAll(".dash-graph")].every(x => x.querySelector(".js-plotly-plot")?.data?.length >= 0
  && x.querySelector(".main-svg"))
"""


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Debian's chromium, with a profile that is thrown away; the test is skipped where there is none."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for argument in (*_QUIET, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = webdriver.Chrome(options, Service(driver))
        try:
            yield browser
        finally:
            browser.quit()


@final
class Page:
    """The explorer in a browser."""

    def __init__(self, browser: webdriver.Chrome, url: str):
        self.browser, self.url = browser, url.rstrip("/")

    def open(self, address: str) -> None:
        self.browser.get(f"{self.url}{address}")
        self.settle()

    def settle(self) -> None:
        self.until(_SETTLED)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def until(self, script: str, *arguments: Any) -> Any:
        """Wait until a script returns something true."""
        end = time.monotonic() + _PATIENCE
        while not (found := self.run(script, *arguments)):
            assert time.monotonic() < end, (
                f"not within {_PATIENCE:g} s: {script} {arguments}; page: {self.text('body')}"
            )
            time.sleep(0.05)
        return found

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def until_text(self, selector: str, part: str) -> None:
        self.until("return document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, part)

    def curves(self, panel: str) -> list[dict[str, Any]]:
        """What a picture draws."""
        script = """return document.querySelector(`#${arguments[0]} .js-plotly-plot`).data
          .map(x => ({name: x.name, x: x.x, y: x.y, z: x.z, type: x.type}))"""
        return self.run(script, panel)

    @property
    def address(self) -> str:
        """What the address line says behind the host."""
        parts = urlsplit(self.browser.current_url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, theme: str) -> None:
        """Light or dark, as the system would have it."""
        wanted = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    def download_to(self, folder: Path) -> None:
        wanted = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", wanted)

    def messages(self) -> list[str]:
        """What the console says since the last time, errors or not."""
        return [x["message"] for x in self.browser.get_log("browser")]

    def complaints(self) -> list[str]:
        """Errors in the console since the last time."""
        return [x["message"] for x in self.browser.get_log("browser") if x["level"] == "SEVERE"]

    def hosts(self) -> set[str]:
        """Who was asked for anything since the last time, the browser's own pages aside."""
        messages = [json.loads(x["message"])["message"] for x in self.browser.get_log("performance")]
        asked = {
            "Network.requestWillBeSent": lambda x: x["request"]["url"],
            "Network.webSocketCreated": lambda x: x["url"],
        }
        urls = [urlsplit(asked[x["method"]](x["params"])) for x in messages if x["method"] in asked]
        return {
            url.hostname or ""
            for url in urls
            if url.scheme not in ("data", "blob", "chrome", "about", "chrome-untrusted")
        }
