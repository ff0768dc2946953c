"""Every control of every view, in a real browser: from the bare address it does something, and nothing complains.

Controls are found on the page, not listed here, so a new one is tried too.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from daybreak.explorer import Workspace
from daybreak.explorer.app import VIEWS
from daybreak.lab import Lab
from daybreak.training.checkpoint import pack
from tests.explorer.browsing import Page
from tests.explorer.conftest import served
from tests.lab import made

# Everything that a person could press, move or type into now, as selectors that lead to it again.
CONTROLS = """
const path = x => x.id ? `#${CSS.escape(x.id)}` : x === document.body ? "body"
  : `${path(x.parentElement)} > :nth-child(${[...x.parentElement.children].indexOf(x) + 1})`;
return [...document.querySelectorAll("a[href], button, summary, input:not([aria-hidden]), select, textarea")]
  .filter(x => x.checkVisibility() && !x.disabled && !x.closest(".dash-dropdown-content"))
  .filter(x => !x.closest("#page") === arguments[0]).map(path)
"""
COMPLAINTS = """
return [...document.querySelectorAll("#failure, #page > .notice, .stage > .notice")].map(x => x.innerText).join("")
"""
# Until nothing is on its way to or from the server. A press takes some time to become a request.
AT_REST = """
const done = arguments[arguments.length - 1];
if (!window.asked) {
  const ask = window.fetch;
  window.asked = {count: 0};
  window.fetch = (...x) => { window.asked.count++; return ask(...x).finally(() => window.asked.count--); };
}
let calm = 0;
const look = () => {
  calm = window.asked.count || document.querySelector("[data-dash-is-loading]") ? 0 : calm + 1;
  if (calm > 3) done(); else setTimeout(look, 10);
};
look();
"""
OPTIONS = ".dash-dropdown-content label.dash-dropdown-option"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, results: Path) -> str:
    """An explorer over few runs, of everything one: fewer rows to press."""
    lab = Lab(tmp_path_factory.mktemp("few") / "lab").open()
    for T, d in ((64, 16), (64, 32), (96, 16), (128, 16), (128, 32)):
        lab.save(made.run(T=T, d=d), made.record(2.0 * T + d, count=30), **made.SOURCE)
    lab.save_failure(made.run(5), "Traceback\nValueError: no", **made.SOURCE)
    going = made.run(6)
    lab.save_checkpoint(going, pack(going.id, {}, made.record(count=13).curves))
    return served(Workspace(lab.path, results))


@pytest.fixture
def page(browser: webdriver.Chrome, few: str, tmp_path: Path) -> Iterator[Page]:
    page = Page(browser, few)
    page.download_to(tmp_path)
    page.prefer("light")
    page.messages()
    yield page
    page.run("localStorage.clear()")
    assert page.hosts() <= {"127.0.0.1"}


def test_the_header(page: Page) -> None:
    """It is the same for all views."""
    page.resize(1280, 800)
    page.open("/theory")
    for name in page.run(CONTROLS, True):
        _use(page, name)
        _check(page, name)


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_can_be_the_first_one_used(page: Page, view: str) -> None:
    page.resize(1280, 800)
    page.open(f"/{view}")
    names = page.run(CONTROLS, False)
    assert len(names) > 8
    for name in names:
        more, choice = True, 0
        while more:
            if page.address != f"/{view}" or not page.find(name).is_displayed():
                _again(page, view)
            more = _use(page, name, choice)
            choice += 1
            _check(page, f"{name} {choice}")


@pytest.mark.parametrize("view", VIEWS)
def test_controls_one_after_the_other_on_a_phone(page: Page, view: str) -> None:
    """Also those that appear on the way; links come last, because they may lead elsewhere."""
    page.resize(400, 800)
    page.open(f"/{view}")
    done: set[str] = set()
    while new := [x for x in page.run(CONTROLS, False) if x not in done]:
        name = min(new, key=lambda x: page.find(x).tag_name == "a")
        done.add(name)
        _use(page, name, -1)
        _check(page, name)
        if not page.address.startswith(f"/{view}"):
            _again(page, view)
    assert len(done) > 8


def _again(page: Page, view: str) -> None:
    """The view at its bare address, without loading scripts again: as by the Back button, with a fragment that differs."""
    page.run(
        """window.count = (window.count ?? 0) + 1;
        document.querySelector("main").dataset.old = true;
        history.pushState(null, "", `/${arguments[0]}#${window.count}`);
        window.dispatchEvent(new PopStateEvent("popstate"))""",
        view,
    )
    page.until("return document.querySelector('main') && !document.querySelector('main[data-old]')")
    page.browser.execute_async_script(AT_REST)
    page.settle()


def _use(page: Page, name: str, choice: int = 0) -> bool:
    """What a person does with a control, and whether it is a menu that offers more. A slider must show another number."""
    element = page.find(name)
    kind = element.get_attribute("type")
    if kind == "range":
        shown = f"output[for='{element.get_attribute('id')}']"
        before = page.text(shown)
        end = element.get_attribute("value") == element.get_attribute("max")
        element.send_keys(Keys.ARROW_LEFT if end else Keys.ARROW_RIGHT)
        page.until("return document.querySelector(arguments[0]).innerText !== arguments[1]", shown, before)
    elif kind == "text":
        element.send_keys(Keys.CONTROL + "a")
        element.send_keys((element.get_attribute("placeholder") or "") + Keys.ENTER)
    elif "dash-dropdown" in (element.get_attribute("class") or ""):
        return _choose(page, element, choice)
    else:
        if element.get_attribute("download") is not None:
            assert page.run("return fetch(arguments[0].href).then(x => x.status)", element) == 200, name
        _click(page, element)
    return False


def _choose(page: Page, menu: WebElement, choice: int) -> bool:
    """Choose an option; whether there are more."""
    menu.click()
    page.until("return document.querySelector(arguments[0])", OPTIONS)
    options = page.browser.find_elements(By.CSS_SELECTOR, OPTIONS)
    options[choice].click()
    if page.run("return document.querySelector(arguments[0])", OPTIONS):  # it was chosen before
        page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until("return !document.querySelector(arguments[0])", OPTIONS)
    return choice + 1 < len(options)


def _click(page: Page, element: WebElement) -> None:
    page.run("arguments[0].focus()", element)  # the link that skips the header is in sight only then
    element.click()
    first, *others = page.browser.window_handles
    for other in others:  # a picture of its own
        page.browser.switch_to.window(other)
        page.browser.close()
        page.browser.switch_to.window(first)


def _check(page: Page, what: str) -> None:
    page.browser.execute_async_script(AT_REST)
    page.settle()
    assert not page.run(COMPLAINTS), what
    assert not page.messages(), what
