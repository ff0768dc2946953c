"""A page that is open while a real sweep runs: it says that there is nothing yet, then it grows by itself."""

import subprocess
from pathlib import Path

from selenium import webdriver

from daybreak.explorer import Workspace
from tests.end_to_end.test_command import COMMAND
from tests.explorer.browsing import Page
from tests.explorer.conftest import served
from tests.lab.compute.sweeping import TOY


def test_the_page_grows_with_the_sweep(browser: webdriver.Chrome, tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY.replace("seeds = 12", "seeds = 4"))
    page = Page(browser, served(Workspace(tmp_path / "lab", tmp_path / "results")))
    page.resize(1280, 800)
    for view in ("laws", "forecast", "claims"):
        page.open(f"/{view}")
        assert "daybreak " in page.text(f"#{view}-text pre"), "what to do next"
    page.open("/runs")
    assert "has no runs yet" in page.text("#runs-text")
    page.run("window.still = true")
    line = [*COMMAND, "sweep", "toy.toml", "--workers", "1", "--checkpoint", "0"]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as sweep:
        page.until("return document.querySelectorAll('#runs-text [data-what=pick]').length > 0")
        page.until("return document.querySelectorAll('#runs-text [data-what=pick]').length === 8")
        _, said = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, said
    page.until("return /^8 runs: [^u]*$/m.test(document.querySelector('.counts').innerText)")  # none is unfinished
    page.settle()
    curves = page.curves("runs-curves")
    assert len(curves) == 4
    assert all(len(curve["x"]) > 2 for curve in curves)
    assert page.run("return window.still"), "without loading the page again"
    assert not page.complaints()
