"""The site: `make site` builds it, a real browser reads it on a desk and on a phone, and it asks nobody else for anything."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from docs import build_site
from docs.site_links import problems, reached
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.explorer.browsing import Page, chromium

ROOT = Path(__file__).parent.parent
PAGES = ("index.html", "gallery.html", "reference/measure.html", "guides/lab.html", "log.html")
LOADED = "return document.readyState === 'complete' && [...document.images].every(x => x.complete)"
FOUND = """
const host = [...document.querySelectorAll("div")].find(x => x.shadowRoot?.querySelector("input"));
return [...(host?.shadowRoot.querySelectorAll("a[href]") ?? [])].some(x => x.href.replace(/\\?[^#]*/, "") === arguments[0])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / "docs" / "build_site.py"), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Page]:
    """A browser on the site, which a server on this machine answers."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server, chromium() as browser:
        Thread(target=server.serve_forever, daemon=True).start()
        yield Page(browser, f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()


def _visit(page: Page, address: str) -> None:
    page.browser.get(address)
    page.until(LOADED)


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (400, "dark")])
def test_pages_in_a_browser(page: Page, width: int, theme: str) -> None:
    page.resize(width, 800)
    page.prefer(theme)
    for name in PAGES:
        _visit(page, f"{page.url}/{name}")
        assert page.run("return [...document.images].filter(x => !x.naturalWidth).map(x => x.src)") == [], name
        assert page.run("const x = document.documentElement; return x.scrollWidth <= x.clientWidth"), (
            f"{name}: too wide"
        )
    assert page.messages() == []
    assert page.hosts() == {"127.0.0.1"}


@pytest.mark.parametrize("from_disk", [False, True])
def test_search_finds_a_word_without_network(page: Page, site: Path, from_disk: bool) -> None:
    page.resize(1280, 800)
    start = site.as_uri() if from_disk else page.url
    _visit(page, f"{start}/index.html")
    page.find(".md-search__button").click()
    page.until("return document.activeElement?.shadowRoot?.activeElement?.tagName === 'INPUT'")
    ActionChains(page.browser).send_keys("censored").perform()
    page.until(FOUND, f"{start}/glossary.html#censored")
    ActionChains(page.browser).send_keys(Keys.ENTER).perform()
    page.until("return location.pathname.endsWith('/glossary.html')")
    assert page.complaints() == []
    assert page.hosts() <= {"127.0.0.1", ""}


def test_every_link_and_anchor_resolves(site: Path) -> None:
    assert problems(site) == []


def test_files_that_pages_name_are_on_the_site(site: Path) -> None:
    assert (site / "examples" / "small.toml.txt").read_bytes() == (ROOT / "examples" / "small.toml").read_bytes()
    picture = "results/emergence/fig5/laptop/figure.png"
    assert (site / picture).read_bytes() == (ROOT / picture).read_bytes()
    assert "gallery.html" in (site / "gallery.html").read_text()
    assert not list(site.rglob("*.py"))


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        ("how do I forecast my own run?", "tutorials/forecast.html", "orecast"),
        ("how do I add a task?", "tutorials/own-task.html", "task"),
        ("how do I add a task, in full?", "guides/own.html", "needle.py"),
        ("does figure 5 hold?", "gallery.html", "A5 holds."),
    ],
)
def test_an_answer_is_three_clicks_away(site: Path, question: str, answer: str, words: str) -> None:
    clicks = reached(site, site / "index.html")
    assert clicks[site / answer] <= 3, question
    assert words in (site / answer).read_text()


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    good = '<a href="b.html#here">x</a><a href="https://example.org">y</a><p>one - two</p>'
    (tmp_path / "a.html").write_text(good)
    assert problems(tmp_path) == []
    bad = """<a href="c.html">x</a><a href="b.html#there">x</a><a href="#gone">x</a><img src="no.png">
      <script src="https://example.org/x.js"></script><p>Three things:\n- one\n- two</p><p>A table:\n| a | b |</p>
      <li>B 8: \\&lt; 0.41, <code>\\*</code></li>"""
    (tmp_path / "a.html").write_text(good + bad)
    assert [x.removeprefix("a.html: ") for x in problems(tmp_path)] == [
        "'- one' is shown as text: put an empty line above",
        "'- two' is shown as text: put an empty line above",
        "'| a | b |' is shown as text: put an empty line above",
        "'\\\\< 0.41, ' is shown as text: write &lt; or &gt;",
        "the link c.html leads nowhere",
        "the anchor of b.html#there does not exist",
        "the anchor of #gone does not exist",
        "the link no.png leads nowhere",
        "https://example.org/x.js would be loaded from another host",
    ]


def test_a_page_that_the_navigation_does_not_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# a")
    config = 'nav = [\n    { "A" = "a.md" },\n    { "B" = "b.md" },\n]\n'
    assert build_site.navigation(config, tmp_path) == 'nav = [\n    { "A" = "a.md" },\n]\n'
    (tmp_path / "c.md").write_text("# c")
    with pytest.raises(SystemExit, match=r"docs/c.md is not in the navigation"):
        build_site.navigation(config, tmp_path)


def test_lists_are_indented_as_the_site_wants_them() -> None:
    text = "Two:\n- one\n  goes on\n  - inner\n\n      code\n\n  more\n- two\n\nEnd\n  x\n```\n- code\n  y\n```\n"
    wanted = "Two:\n\n- one\n    goes on\n    - inner\n\n        code\n\n    more\n\n- two\n\nEnd\n  x\n```\n- code\n  y\n```\n"
    assert build_site.lists(text) == wanted


def test_nothing_but_a_site_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SystemExit, match="is not a site"):
        build_site.build(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
