"""Every view in a real browser: it loads, its controls do what they say, its address brings it back."""

import csv
import io
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from daybreak import measure, theory
from tests.explorer.browsing import Page
from tests.explorer.conftest import DAMAGED, FAILED, GOING, HTML
from tests.lab import made

VIEWS = ("theory", "staircase", "laws", "runs", "forecast", "claims")


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_loads_and_fits_a_desk_and_a_phone_in_light_and_dark(page: Page, view: str) -> None:
    page.open(f"/{view}")
    assert page.text("h1").lower() == view
    assert page.text("nav [aria-current]").lower() == view
    assert not page.text(".notice")
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    page.resize(390, 844)
    page.until("return document.documentElement.scrollWidth <= 390")  # nothing sticks out to the right
    page.run("document.querySelector('#theme-switch').click()")
    page.until("return document.documentElement.dataset.theme === 'dark'")
    page.settle()
    assert page.run("return getComputedStyle(document.body).backgroundColor") != light
    for panel in page.run("return [...document.querySelectorAll('.dash-graph')].map(x => x.id)"):
        ground = page.run(
            "return document.querySelector(`#${arguments[0]} .js-plotly-plot`).layout.paper_bgcolor", panel
        )
        assert ground == "#1b1e22"
    page.run("localStorage.clear()")


def _plateau(curve: dict) -> float:
    return measure.plateau(curve["x"], curve["y"], level=0.1).length


def test_a_slider_moves_the_curve_to_what_the_theory_says(page: Page) -> None:
    page.open("/theory")
    slider = page.find("#theory-T")
    slider.send_keys(Keys.ARROW_RIGHT * 4)  # an octave
    page.until_text("#theory-T-reads", "1,024")
    page.settle()
    expected = float(theory.plateau(1024, 64))
    assert _plateau(page.curves("theory-time")[0]) == pytest.approx(expected, rel=2e-3)
    assert f"{expected:,.1f}" in page.text("#theory-text")
    law, _, point, _ = page.curves("theory-law")
    assert point["y"] == pytest.approx([expected], rel=1e-4)
    assert law["y"] == pytest.approx(theory.plateau(np.array(law["x"]), 64), rel=5e-3)
    assert page.address == "/theory?T=1024"


def test_pinned_curves_stay_and_come_back_by_their_address(page: Page) -> None:
    page.open("/theory?T=128&d=16")
    page.find("#theory-pin").click()
    page.until("return location.search.includes('pins')")
    page.find("#theory-T").send_keys(Keys.ARROW_RIGHT * 4)
    page.until_text("#theory-T-reads", "256")
    page.settle()
    assert page.address == "/theory?T=256&d=16&pins=128+16+1+0.0+tied"

    def plateaus() -> list[float]:
        named = [x for x in page.curves("theory-time") if x["name"]]
        return [_plateau(x) for x in named]

    assert plateaus() == pytest.approx([theory.plateau(T, 16) for T in (256, 128)], rel=5e-3)
    before = plateaus()
    page.open(page.address)
    assert plateaus() == before
    page.find("#theory-unpin").click()
    page.until("return !location.search.includes('pins')")


def test_what_the_theory_refuses_is_said_in_place_of_the_picture(page: Page) -> None:
    page.open("/theory?T=8&B=4")
    page.find("#theory-B").send_keys(Keys.ARROW_RIGHT * 4)
    page.until_text("#theory-notice", "B = 8 is not allowed")
    page.settle()
    assert (page.curves("theory-time"), page.text("#theory-text"), page.text("#theory-B-reads")) == ([], "", "8")
    assert page.address == "/theory?T=8&B=4", "of the last picture"
    page.find("#theory-B").send_keys(Keys.ARROW_LEFT * 4)
    page.until("return !document.querySelector('#theory-notice').innerText")
    page.settle()
    assert page.curves("theory-time")


def test_an_unexpected_error_is_shown_until_the_next_good_answer(page: Page) -> None:
    page.open("/theory")
    page.run("dash_clientside.set_props('theory-pins', {data: {not: 'a list'}})")
    page.until_text("#failure", "Something went wrong")
    page.run("dash_clientside.set_props('theory-pins', {data: []})")
    page.until("return !document.querySelector('#failure').innerText")


def test_the_staircase_rests_where_the_theory_says(page: Page) -> None:
    page.open("/staircase?heads=2&patterns=2&T=16")
    (curve,) = page.curves("staircase-loss")
    levels = theory.plateau_levels(theory.patterns([1.7, 1.0], T=16))
    assert curve["y"][0] == pytest.approx(levels[0], rel=1e-3)
    assert min(abs(np.array(curve["y"]) / levels[1] - 1)) < 0.01
    assert curve["y"][-1] < 0.01
    assert len(page.curves("staircase-attention")) == 4


def test_a_law_is_fitted_filtered_and_written_anew(page: Page) -> None:
    page.open("/laws?source=lab&where=task+=+single-location,+layers+=+2")
    exponents = page.run("return [...document.querySelectorAll('#laws-text td:nth-child(2)')].map(x => +x.innerText)")
    assert exponents == pytest.approx(list(_planted().coefficients.values()), rel=0.05)
    field = page.find("#laws-law")
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("C * T**b" + Keys.ENTER)
    page.until_text("#laws-text", "C * T**b")
    assert "law=C+%2A+T%2A%2Ab" in page.address
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("C * Z**b" + Keys.ENTER)
    page.until_text("#laws-notice", "'Z', which is no column")
    page.settle()
    assert not page.curves("laws-points")
    page.find("#laws-source").click()
    page.until("return document.querySelector('.dash-dropdown-content label.dash-dropdown-option')")
    page.find(".dash-dropdown-content label:nth-of-type(2)").click()
    page.until_text("#laws-text", "plateau of the toy model")
    page.settle()
    assert not page.text("#laws-notice")
    assert page.curves("laws-points")


def _planted() -> measure.Law:
    """The law of the lab's plateaus: where each loss is down to a tenth."""
    rows = [(T, d, seed) for T in (32, 64, 128) for d in (16, 32) for seed in range(5)]
    T, d, seed = (np.array(x, float) for x in zip(*rows, strict=True))
    plateau = 0.8 * d**0.5 * T * (1 + 0.02 * seed) + 20 * np.log(9)
    return measure.fit_law("C * d**a * T**b", {"T": T, "d": d, "plateau": plateau})


def test_laws_of_shipped_results(page: Page) -> None:
    page.open("/laws?source=emergence/fig1c/laptop/plateaus")
    assert "paper A, figure 2 left" in page.text("#laws-text")
    names = [x["name"] for x in page.curves("laws-points")]
    assert "fitted" in names
    assert "paper A, figure 2 left" in names


def test_runs_are_filtered_sorted_and_picked(page: Page) -> None:
    page.open("/runs")
    assert "32 runs: 1 unfinished, 30 " in page.text("#runs-text")
    field = page.find("#runs-where")
    field.send_keys("T >= 64, d = 16" + Keys.ENTER)
    page.until_text("#runs-text", "12 runs: 1 unfinished, 10 emerged, 1 failed")
    page.find("[data-which=plateau]").click()
    page.until("return location.search.includes('sort=plateau')")
    page.settle()
    shown = page.run("return [...document.querySelectorAll('#runs-text [data-what=pick]')].map(x => x.dataset.which)")
    assert shown[:5] == [made.run(seed, T=64).id for seed in range(5)]
    page.find(f"[data-which='{shown[3]}']").click()
    page.until("return location.search.includes('runs=')")
    page.settle()
    curves = page.curves("runs-curves")
    assert [x["name"] for x in curves] == [shown[3][:8]]
    record = made.record(0.8 * 4 * 64 * 1.06, count=60)
    assert curves[0]["y"] == pytest.approx(record.curves["clean_loss"].tolist(), rel=1e-4)
    heat = page.curves("runs-heads")[0]
    assert np.shape(heat["z"]) == (6, 60)
    assert np.shape(page.curves("runs-map")[0]["z"]) == (2, 3)
    page.open(page.address)
    assert [x["name"] for x in page.curves("runs-curves")] == [shown[3][:8]]


def test_settings_of_runs_are_in_sight(page: Page) -> None:
    """T, d and the seed without moving the table; on a phone T and d."""
    page.open("/runs")
    script = """const edge = document.querySelector("#runs-text .table").getBoundingClientRect().right;
      return [...document.querySelectorAll("th button")].filter(x => x.getBoundingClientRect().right < edge).map(x => x.dataset.which)"""
    assert {"outcome", "plateau", "T", "d", "seed"} <= {*page.run(script)}
    page.resize(400, 800)
    assert {"outcome", "plateau", "T", "d"} <= {*page.run(script)}


@pytest.mark.parametrize("view", ["theory", "staircase", "laws", "forecast"])
def test_on_a_phone_the_picture_is_above_the_controls_and_stays_in_sight(page: Page, view: str) -> None:
    page.resize(400, 800)
    page.open(f"/{view}")
    top = "return document.querySelector('.panel').getBoundingClientRect().top"
    assert 0 < page.run(top) < page.run("return document.querySelector('aside').getBoundingClientRect().top") < 600
    page.run("[...document.querySelectorAll('aside .control')].at(-1).scrollIntoView({block: 'end'})")
    assert 0 <= page.run(top) < 200
    page.run("window.scrollTo(0, document.documentElement.scrollHeight)")
    page.until(
        """const [first, ...others] = [...document.querySelectorAll(".panel")].map(x => x.getBoundingClientRect());
        return first.bottom <= others.at(-1).top"""
    )


def test_damage_and_failure_are_shown_as_text(page: Page) -> None:
    page.open(f"/runs?runs={FAILED.id}")
    said = page.text("#runs-text")
    assert f"{DAMAGED.id}: curves.parquet is not what was written" in said
    assert f"ValueError: {HTML}" in said
    assert HTML[:12] in said, "the folder with an odd name is among the unfinished"
    assert not page.run("return document.querySelectorAll('main img, main b').length")


def test_a_forecast_as_of_any_step(page: Page) -> None:
    page.open(f"/forecast?run={GOING.id}&share=100")
    assert "still trains" in page.text("#forecast-text")
    assert "240" in page.text("#forecast-text")
    page.open(f"/forecast?run={made.run(0).id}&share=100")
    assert "has emerged at step" in page.text("#forecast-text")
    page.find("#forecast-share").send_keys(Keys.HOME)
    page.until_text("#forecast-share-reads", "0 %")
    page.until_text("#forecast-text", "used until step\n0")
    assert "in fact" in page.text("#forecast-text")


def test_claims_are_found_by_figure(page: Page) -> None:
    page.open("/claims")
    assert page.run("return document.querySelectorAll('details.group').length") == 2
    assert "✓" not in page.text(".index"), "signs are decoration; the numbers are text"
    assert page.text(".index").split()[:3] == ["Paper", "A,", "emergence"]
    page.find("[data-fold=close]").click()
    page.until("return !document.querySelector('details.group[open]')")
    page.find(".index button[data-show*=b-fig10]").click()
    page.until("return document.querySelector('details.group[open]')?.getBoundingClientRect().top < 400")
    assert "B10" in page.text("details.group[open]")
    page.until("return document.querySelector('details.group[open] img').naturalWidth > 0")
    page.find("#claims-paper input[value=incremental]").click()
    page.until("return document.querySelectorAll('details.group').length === 1")
    assert page.address == "/claims?paper=incremental"


def test_pictures_and_data_are_saved(page: Page, tmp_path: Path) -> None:
    page.download_to(tmp_path)
    page.open("/theory?T=64&d=16")
    for form in ("svg", "png"):
        page.find(f".time [data-format={form}]").click()
        path = tmp_path / f"daybreak-theory-time.{form}"
        while not path.exists() or not path.stat().st_size:
            time.sleep(0.05)
        assert path.read_bytes()[:4] in (b"<svg", b"\x89PNG")
    link = page.run("return document.querySelector('#theory-time-csv').href")
    with urlopen(link) as answer:  # noqa: S310
        rows = list(csv.DictReader(io.TextIOWrapper(answer)))
    times, losses = ([float(row[name]) for row in rows] for name in ("time", "clean_loss"))
    assert measure.plateau(times, losses, 0.1).length == pytest.approx(theory.plateau(64, 16), rel=5e-3)


def test_keys_alone_reach_every_control(page: Page) -> None:
    page.open("/theory")
    reached = set()
    for _ in range(40):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(page.run("return document.activeElement.id || document.activeElement.textContent"))
    assert {
        "theory-T",
        "theory-d",
        "theory-B",
        "theory-p",
        "theory-pin",
        "theme-switch",
        "theory-time-csv",
        "SVG",
    } <= reached


def test_views_follow_each_other_without_loading_anew(page: Page) -> None:
    page.open("/theory?T=64")
    page.run("window.still = true")
    page.find("#nav-claims").click()
    page.until_text("h1", "Claims")
    page.settle()
    page.browser.back()
    page.until_text("h1", "Theory")
    page.settle()
    assert page.address == "/theory?T=64"
    assert page.text("#theory-T-reads") == "64"
    assert page.run("return window.still")


def test_a_wrong_address_is_answered_in_words(page: Page) -> None:
    page.open("/theory?T=many")
    assert "T = 'many' is not allowed: it must be a whole number." in page.text("#page > .notice")
    page.open("/theory?pins=1+2")
    assert "a pin is T, d, B, p" in page.text("#page > .notice")
    page.browser.get(f"{page.url}/nowhere")
    page.until_text("#page", "There is no view 'nowhere'")
