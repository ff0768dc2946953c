"""Tasks and models of somebody's own: what names them, what is refused, and what is never loaded."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daybreak import _own, models, tasks
from daybreak.cli import main
from daybreak.errors import RequestError, UnknownKind
from daybreak.lab import index
from daybreak.lab.compute.messages import Ended, Job, encode
from daybreak.lab.compute.work import answers
from daybreak.lab.sweeps import sweep
from daybreak.models import ToyAttention, Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Run, Stop, canonical, from_json, level_of, own_sources, to_json
from tests import own

TOKENS = Transformer(layers=1, heads=1, width=4, head_width=4, mlp=0)


Toy: Any = ToyAttention


class Plain(Toy):
    """A model that a program defines itself, in this file."""


@pytest.fixture(autouse=True)
def _in_a_folder_with_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.write(tmp_path))


def _needle(path: str = "needle.py", **fields: Any) -> Any:
    return tasks.find(f"{path}:Needle")(**fields)


def test_a_run_is_named_by_class_fields_and_text_not_by_the_path(tmp_path: Path) -> None:
    run = Run(_needle(T=4), models.find("bag.py:Bag")(scale=0.5))
    data = to_json(run)
    digests = [_own.Source("", text.encode()).digest for text in (own.NEEDLE, own.BAG)]
    assert data["task"] == {"name": "Needle", "source": digests[0], "T": 4, "V": 8}
    assert data["model"] == {"name": "Bag", "source": digests[1], "scale": 0.5}
    assert from_json(json.loads(canonical(run))) == run
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.py").write_text(own.NEEDLE)
    assert replace(run, task=_needle("elsewhere/other.py", T=4)).id == run.id
    (tmp_path / "other.py").write_text(f"{own.NEEDLE}# changed\n")
    assert replace(run, task=_needle("other.py", T=4)).id != run.id


def test_a_class_may_be_built_in_or_in_a_file(tmp_path: Path) -> None:
    assert tasks.find("single-location") is SingleLocation
    assert models.find(str(tmp_path / "bag.py:Bag")) is models.find("bag.py:Bag", tmp_path)
    assert own_sources([Run(SingleLocation(T=4, d=2), ToyAttention())]) == []
    assert own_sources([Run(_needle(), TOKENS)] * 2) == [_own.Source("needle.py", own.NEEDLE.encode())]


def test_a_run_whose_text_is_not_loaded_is_unknown_and_says_if_its_file_has_changed() -> None:
    data = to_json(Run(_needle(T=4), TOKENS))
    other = {**data, "task": data["task"] | {"source": "0123456789abcdef"}}
    with pytest.raises(UnknownKind) as unknown:
        from_json(other)
    assert "is not known here: load its file first, by daybreak.tasks.find('FILE.py:Needle'), or" in str(unknown.value)
    assert unknown.value.what == (
        f"task 'Needle' (source 0123456789abcdef; needle.py has changed since, to {data['task']['source']})"
    )
    for change in ({"name": "Noodle", "source": "0123456789abcdef"}, {"name": "Needle"}, {"name": "needle.py:Needle"}):
        with pytest.raises(UnknownKind, match=r"task '\w+.*' .*is not known here"):
            from_json({**data, "task": change})


def test_a_program_may_define_its_classes_itself() -> None:
    run = Run(SingleLocation(T=4, d=2), Plain())
    assert to_json(run)["model"]["source"] == _own.Source("", Path(__file__).read_bytes()).digest
    assert from_json(to_json(run)) == run

    class Inside(Toy):
        pass

    with pytest.raises(RequestError, match="must be defined in a file, at the top level"):
        to_json(Run(SingleLocation(T=4, d=2), Inside()))


def test_a_worker_that_cannot_load_a_file_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("needle.py").write_text(
        f"{own.NEEDLE}\nimport os\nif os.environ.get('ELSEWHERE'):\n    raise ValueError('not here')\n"
    )
    job = encode(Job((Run(_needle(T=4), TOKENS),), {}, 30.0))
    monkeypatch.setattr(_own, "_LOADED", {})  # as in another process
    monkeypatch.setenv("ELSEWHERE", "1")
    (message,) = answers(job)
    assert isinstance(message, Ended)
    assert "needle.py, line 50: ValueError: not here." in str(message.traceback)


def test_a_program_is_not_run_again_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(_needle(T=4), TOKENS)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules[type(run.task).__module__])
    with pytest.raises(RequestError, match="define the class in a file of its own"):
        own_sources([run])


def test_what_a_file_prints_is_not_part_of_the_answer(capsys) -> None:
    Path("loud.py").write_text(f"print('loaded')\n{own.NEEDLE}")
    with pytest.raises(SystemExit):
        main(["train", "loud.py:Needle", "--help"])
    out, err = capsys.readouterr()
    assert err == "loaded\n"
    out = " ".join(out.replace("│", " ").split())  # lines break anywhere
    for text in ("daybreak train loud.py:Needle", "Sequence length, at least 2. (default: 16)", "(default: 0.5625)"):
        assert text in out


def test_its_level_is_between_a_guess_and_the_best() -> None:
    assert level_of(_needle(V=4)) == 0.625
    assert level_of(SingleLocation(T=4, d=2)) == pytest.approx(0.1)


GRIDS = """
seeds = 2
[task]
name = "needle.py:Needle"
V = 4
[model]
name = "transformer"
width = 8
[[grid]]
[grid.task]
T = [4, "2 * V"]
[[grid]]
[grid.model]
name = "bag.py:Bag"
scale = 0.5
[grid.stop]
level = 0.3
"""


def test_a_sweep_finds_them_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    Path("grids.toml").write_text(GRIDS)
    monkeypatch.chdir(tmp_path / "inside")
    runs: list[Any] = sweep.read(Path("..") / "grids.toml")
    seen = [(run.task.T, type(run.model).__name__, run.stop.level) for run in runs if not run.seed]
    assert seen == [(4, "Transformer", 0.625), (8, "Transformer", 0.625), (16, "Bag", 0.3)]
    Path("../needle.py").write_text(own.NEEDLE.replace("(self.T,), 0", "(self.T,), undefined"))
    with pytest.raises(RequestError, match=r"needle.py, line 33: NameError: name 'undefined' is not defined\."):
        sweep.read(Path("..") / "grids.toml")


REFUSED = {
    "def f(:": "bad.py, line 1: SyntaxError: invalid syntax.",
    "x = 1\nraise ValueError('a\\nb')": "bad.py, line 2: ValueError: a.",
    "import sys\nsys.exit(3)": "bad.py, line 2: SystemExit: 3.",
    "def f():\n    f()\nf()": "bad.py, line 2: RecursionError: maximum recursion depth exceeded.",
    "import a_helper": "bad.py, line 1: ModuleNotFoundError: No module named 'a_helper'.",
    "while True:\n    pass": "it did not end within 0.3 seconds.",
    "while True:\n    try:\n        x = 1\n    except BaseException:\n        break\nwhile True:\n    pass": "0.3 seconds.",
    "x = '\0'": "source code string cannot contain null bytes.",
    "": "there is no 'Needle' in bad.py: it has no task.",
    own.NEEDLE.replace("Needle", "Neddle"): "there is no 'Needle' in bad.py: it has Neddle.",
    "Needle = 3": "'Needle' in bad.py is not a task: it must be a class derived from daybreak.tasks.Task.",
    own.BAG.replace("Bag", "Needle"): "'Needle' in bad.py is not a task: it must be a class derived from",
    own.NEEDLE.replace("def loss", "def lost"): "'Needle' in bad.py is not a task yet: it does not define loss.",
    own.NEEDLE.replace(
        "V: int", "name: int"
    ): "field 'name' of 'Needle' in bad.py is not allowed: choose another name.",
    own.NEEDLE.replace(
        "V: int", "t: int"
    ): "field 't' of 'Needle' in bad.py is not allowed: it differs from 'T' in upper",
    own.NEEDLE.replace(
        "V: int", "V: list"
    ): "field 'V' of 'Needle' in bad.py is not allowed: its type is not plain; use bool",
    own.NEEDLE.replace("static=True, ", ""): "field 'T' of 'Needle' in bad.py is not allowed: it is no float",
    own.NEEDLE.replace(
        "self.V + 1, outputs", "self.W + 1, outputs"
    ): "bad.py, line 21: AttributeError: 'Needle' object has",
    own.NEEDLE.replace(
        "(self.T,), 0", "(self.T,), nought"
    ): "bad.py, line 33: NameError: name 'nought' is not defined.",
    own.NEEDLE.replace("reads=(self.T - 1,)", "reads=(self.T,)"): "the interface of Needle reads at (16,): increasing",
    own.NEEDLE.replace(
        "tokens=self.V + 1, ", ""
    ): "the interface of Needle must have either features (of vectors) or tokens",
    own.NEEDLE.replace(
        "+ 1, None]", "+ 1]"
    ): "sample of Needle gives target of shape () and type int32: they must be (1,)",
    own.NEEDLE.replace(
        "return Example(", "return ("
    ): "sample of Needle gives inputs None: it must be an array of shape (16,)",
    own.NEEDLE.replace("return self\n", "return None\n"): "clean of Needle must give a Needle with the same interface.",
    own.NEEDLE.replace(
        "accuracy=1 / self.V", "accuracy=None"
    ): "guess of Needle must be a Guess, with an accuracy if and",
    f"{own.NEEDLE}\n    def circuits(self):\n        return {{'A b': None}}": "a curve of Needle cannot be called 'A b'",
}


@pytest.mark.parametrize("text", REFUSED, ids=[message[:40] for message in REFUSED.values()])
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(_own, "PATIENCE", 0.3)
    Path("bad.py").write_text(text)
    before = {name for name in sys.modules if name.startswith("daybreak_own")}
    assert main(["train", "bad.py:Needle"]) == 2
    out, err = capsys.readouterr()
    assert REFUSED[text] in err
    assert (out, err.count("\n"), err[:10], err[-2:]) == ("", 1, "daybreak: ", ".\n")
    assert sorted(x.name for x in tmp_path.iterdir()) == ["bad.py", "bag.py", "needle.py"]
    if "line" in err and "SyntaxError" in err:
        assert {name for name in sys.modules if name.startswith("daybreak_own")} == before


NAMES = {
    "train nowhere.py:Needle": "task = 'nowhere.py:Needle' cannot be read: No such file or directory.",
    "train .:Needle": "task = '.:Needle' cannot be read: it is not a regular file.",
    "train /dev/zero:Needle": "task = '/dev/zero:Needle' cannot be read: it is not a regular file.",
    "train needle.py": "task = 'needle.py' is not allowed: name the class in the file too, as in needle.py:Name.",
    "train needle.py:Needle --model bog": "model 'bog' is unknown: choose one of transformer, minimal, toy, or name a class",
    "train needle.py:Needle --model transfomer": "model 'transfomer' is unknown: perhaps you meant 'transformer'.",
    "train recall --model needle.py:Needle": "'Needle' in needle.py is not a model: it must be a class derived from",
    "train needle.py:Needle --model toy": "model 'toy' is not allowed with this task: it takes vectors",
    "train single-location --model bag.py:Bag": "bag.py, line 19: TypeError",
    "train needle.py:Needle --task.T 1": "T = 1 is not allowed: the sequence length must be at least 2.",
    "train needle.py:Needle --task.W 1": "there is no option --task.W. There are --task.T, --task.V.",
    "sweep s.toml": "s.toml, line 3: there is no 'Neddle' in needle.py: it has Needle.",
}


@pytest.mark.parametrize("line", NAMES)
def test_a_name_that_means_nothing_is_refused_in_one_sentence(line: str, tmp_path: Path, capsys) -> None:
    Path("s.toml").write_text('seeds = 3\n[task]\nname = "needle.py:Neddle"\n[model]\nname = "toy"\n')
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert NAMES[line] in err
    assert (out, err.count("\n")) == ("", 1)
    assert sorted(x.name for x in tmp_path.iterdir()) == ["bag.py", "needle.py", "s.toml"]


TAKEN = [
    "batch",
    "layers",
    "outcome",
    "id",
    "seed",
    "weights",
    "scale",
    "learning_rate",
    "time",
    "final_loss",
    "task_x",
    "n",
    "Stamp",
    "switch_at",
    "level",
]


def test_a_field_whose_name_is_taken_gets_the_part_before_it() -> None:
    """Whatever the other part is; and in SQL, which does not tell upper from lower case."""
    run = to_json(Run(SingleLocation(T=4, d=2), ToyAttention(), stop=Stop(level=0.5)))
    task = {"name": "A", "source": "a", "T": 4, "q": 1, "noise": 2} | dict.fromkeys(TAKEN, 7)
    model = {"name": "B", "source": "b", "layers": 2, "scale": 3, "noise": 4, "T": 5, "d": 6}
    flat = index.settings(run | {"task": task, "model": model})
    expected = {"task": "A", "task_source": "a", "T": 4, "q": 1, "task_noise": 2, **{f"task_{x}": 7 for x in TAKEN}}
    expected |= {
        "model": "B",
        "model_source": "b",
        "layers": 2,
        "scale": 3,
        "model_noise": 4,
        "model_T": 5,
        "model_d": 6,
    }
    expected |= {"batch": 32, "seed": 0, "learning_rate": 1e-4, "level": 0.5}
    assert {name: flat[name] for name in expected} == expected
    assert len({name.lower() for name in flat}) == len(flat)
    built_in = index.settings(run | {"task": task})
    assert {name: built_in[name] for name in ("T", "noise", "task_scale", "scale")} == {
        "T": 4,
        "noise": 2,
        "task_scale": 7,
        "scale": 0.0,
    }
