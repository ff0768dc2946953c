"""A task and a model in a user's own files, by the command itself: trained here, by workers and on Ray; read without the files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import own
from tests.end_to_end.test_command import COMMAND
from tests.lab.compute.sweeping import measurements

SWEEP = """
seeds = 2
[task]
name = "needle.py:Needle"
T = [3, 4, 8]
V = 4
[model]
name = "bag.py:Bag"
[optimizer]
learning_rate = 0.01
[stop]
budget = "100 * T"
every = 5
level = 0.4
"""
# Reads a lab in a process that names no file, and prints what it was told and what it loaded.
READER = """
import contextlib, io, json, sys
from pathlib import Path
from daybreak.cli import main
from daybreak.explorer import Workspace, explorer

def ask(*line):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*line, "--json"]) == 0, line
    return json.loads(out.getvalue())

runs = ask("runs", "list")["runs"]
name = next(x["id"] for x in runs if x["T"] == 8)
answers = {"runs": runs, "show": ask("runs", "show", name), "fit": ask("fit", "--law", "C * T**b")}
answers["forecast"] = ask("forecast", name, "--law", "C * T**b")
with contextlib.redirect_stdout(sys.stderr):
    assert main(["runs", "show", name]) == 0
    assert main(["runs", "list", "--where", "task = 'Needle' and T > 3"]) == 0
page = explorer(Workspace(Path("lab"), Path("results")), "127.0.0.1").server.test_client()
answers["page"] = {path: page.get(path, headers={"Host": "127.0.0.1"}).text for path in (
    "/data/runs/runs.csv", f"/data/runs/curves.csv?runs={name}", f"/data/forecast/curve.csv?run={name}",
)}
answers["loaded"] = [x for x in sys.modules if x.startswith("daybreak_own")]
print(json.dumps(answers))
"""


def _run(folder: Path, *line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        line,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def _answer(folder: Path, *line: str, **environment: str) -> dict:
    done = _run(folder, *COMMAND, *line, "--json", **environment)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both files and a sweep, whose lab two local workers have filled."""
    folder = own.write(tmp_path_factory.mktemp("own"))
    (folder / "needle.toml").write_text(SWEEP)
    done = _answer(folder, "sweep", "needle.toml", "--workers", "2", "--retries", "0")
    assert done["outcomes"] == {"emerged": 6}
    return folder


def test_train_has_the_runs_of_the_sweep(folder: Path) -> None:
    before = measurements(folder / "lab")
    stop = "--stop.budget 400 --stop.every 5 --stop.level 0.4"
    line = f"train needle.py:Needle --model bag.py:Bag --task.T 4 --task.V 4 --optimizer.learning-rate 0.01 {stop}"
    trained = _answer(folder, *line.split(), "--seeds", "2", "--lab", "trained")["runs"]
    assert {x["id"] for x in trained} < before.keys()
    assert [x["outcome"] for x in trained] == ["emerged", "emerged"]
    assert _answer(folder, *line.split(), "--seeds", "2")["runs"], "nothing to train: the sweep has them"
    assert measurements(folder / "lab") == before


def test_its_lab_is_read_without_the_files_and_without_executing_them(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "lab").symlink_to(folder / "lab")
    for file in ("needle.py", "bag.py"):
        (tmp_path / file).write_text("raise SystemExit('a lab must not make Daybreak load this file')")
    done = _run(tmp_path, sys.executable, "-c", READER)
    answers = json.loads(done.stdout)
    assert answers["loaded"] == []
    assert {(x["task"], x["model"], x["V"], x["scale"]) for x in answers["runs"]} == {("Needle", "Bag", 4, 0.01)}
    assert {x["T"] for x in answers["runs"]} == {3, 4, 8}
    assert answers["show"]["run"]["task"] | {"source": ""} == {"name": "Needle", "source": "", "T": 8, "V": 4}
    assert answers["show"]["curves"]["clean_accuracy"][-1] > 0.3
    assert "is not known here" in done.stderr
    assert answers["fit"]["law"]["coefficients"]["b"] > 0
    assert answers["forecast"]["run"] == answers["show"]["id"]
    assert answers["forecast"]["law"]["form"] == "C * T**b"
    for path, text in answers["page"].items():
        assert len(text.splitlines()) > 2, (path, text)
    assert "Needle" in answers["page"]["/data/runs/runs.csv"]


@pytest.mark.slow
def test_a_ray_cluster_gets_the_files_with_the_work(folder: Path) -> None:
    """To the same bits as the workers of this machine."""
    done = _run(
        folder, *COMMAND, *["sweep", "needle.toml", "--executor", "ray", "--workers", "2", "--lab", "ray", "--json"]
    )
    assert all(" of 6 runs" in line for line in done.stderr.splitlines()), "only progress, on a slow machine"
    assert measurements(folder / "ray") == measurements(folder / "lab")


def test_an_installed_package_offers_them_by_name(folder: Path, tmp_path: Path) -> None:
    """In the command, in sweeps, in workers and in readers; a run has the id that it has by path."""
    package = tmp_path / "site" / "my_package"
    package.mkdir(parents=True)
    own.write(package)
    (package / "__init__.py").write_text("from my_package.needle import Needle as Needle\n")
    about = tmp_path / "site" / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    points = "[daybreak.tasks]\nneedle = my_package:Needle\nrecall = my_package:Nothing\n"
    (about / "entry_points.txt").write_text(f"{points}[daybreak.models]\nbag = my_package.bag:Bag\n")
    text = SWEEP.replace("needle.py:Needle", "needle").replace("bag.py:Bag", "bag").replace("[3, 4, 8]", "4")
    (tmp_path / "installed.toml").write_text(text)
    path = str(tmp_path / "site")
    done = _answer(tmp_path, "sweep", "installed.toml", "--workers", "1", "--retries", "0", PYTHONPATH=path)
    assert done["outcomes"] == {"emerged": 2}
    both = measurements(folder / "lab")
    assert measurements(tmp_path / "lab").items() <= both.items()
    code = """
import sys
from pathlib import Path
from daybreak.cli import main
from daybreak.lab import Lab
lab = Lab("lab")
for name in lab.query()["id"].to_pylist():
    print(type(lab.load(name).run.task).__module__, type(lab.load(name).run.model).__module__)
for line in ("needle --model bag", "recall", ""):
    try:
        main(["train", *line.split(), "--help"])
    except SystemExit:
        pass
"""
    out = _run(tmp_path, sys.executable, "-c", code, PYTHONPATH=path).stdout
    assert out.splitlines()[:2] == ["my_package.needle my_package.bag"] * 2
    assert "Tokens; the marker is one more." in out
    assert "--model.scale" in out
    assert "Example: daybreak train recall" in out, "built-in names come first"
    assert "Installed tasks: needle, recall" in out
