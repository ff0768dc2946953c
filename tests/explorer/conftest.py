"""A lab in which all sorts of things happened, the explorer over it, and a browser on the explorer."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from selenium import webdriver

from daybreak.explorer import Workspace, explorer, listen, serve
from daybreak.lab import Lab
from daybreak.training.checkpoint import pack
from tests.explorer.browsing import Page, chromium
from tests.lab import made

HTML = "<img src=x onerror=alert(1)><b>bold</b>"
GOING, FAILED, DAMAGED = (made.run(seed) for seed in (98, 97, 96))
RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty finished runs of six configurations, one that failed, one that is damaged, one that still trains."""
    lab = Lab(tmp_path_factory.mktemp("explorer") / "lab").open()
    for T in (32, 64, 128):
        for d in (16, 32):
            for seed in range(5):
                middle = 0.8 * d**0.5 * T * (1 + 0.02 * seed)
                lab.save(made.run(seed, T=T, d=d), made.record(middle, count=60), **made.SOURCE)
    lab.save_failure(FAILED, f"Traceback\nValueError: {HTML}", **made.SOURCE)
    lab.save(DAMAGED, made.record(), **made.SOURCE)
    (lab.path / "runs" / DAMAGED.id / "curves.parquet").write_bytes(b"x")
    lab.save_checkpoint(GOING, pack(GOING.id, {}, made.record(count=13).curves))
    odd = lab.path / "runs" / HTML.replace("/", "")
    odd.mkdir()  # somebody else's folder: not listed, and left alone
    (odd / "run.json").write_text("{}")
    return lab.path


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two figures of the papers, as they are shipped."""
    out = tmp_path_factory.mktemp("results")
    for name in ("emergence/fig1c", "incremental/b-fig10"):
        shutil.copytree(RESULTS / name, out / name)
    return out


@pytest.fixture(scope="session")
def workspace(lab: Path, results: Path) -> Workspace:
    return Workspace(lab, results)


@pytest.fixture(scope="session")
def url(workspace: Workspace) -> str:
    return served(workspace)


def served(workspace: Workspace) -> str:
    """Where an explorer is, until the tests end."""
    at = listen("127.0.0.1", 0)
    Thread(target=serve, args=(explorer(workspace), at), daemon=True).start()
    return f"http://127.0.0.1:{at.getsockname()[1]}"


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: webdriver.Chrome, url: str) -> Iterator[Page]:
    """The explorer in a browser; after each test the console has no error, and no other host was contacted."""
    page = Page(browser, url)
    page.resize(1280, 800)
    page.prefer("light")
    yield page
    assert not page.complaints()
    assert page.hosts() <= {"127.0.0.1"}
