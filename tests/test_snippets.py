"""What README, Start and tutorials show is what one gets: every command and all Python, in order, in an empty folder."""

import re
from pathlib import Path

import pytest

from tests import own
from tests.docs_runner import ROOT, agrees, check, read, refreshed, same

NOT_RUN = ("index", "watch")  # watching takes PyTorch, and minutes
TUTORIALS = sorted(x for x in (ROOT / "docs" / "tutorials").glob("*.md") if x.stem not in NOT_RUN)
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *TUTORIALS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_one_gets(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    assert any(snippet.shown for snippet in read(text)), "nothing on this page is checked"
    wrong = check(text, tmp_path)
    assert not wrong, f"\n{page.name}: python -m tests.docs_runner prints it right\n" + "\n\n".join(wrong)


PAGE = """
```toml title="a.toml"
x = 1
```
```console
$ cat a.toml
x = 1
$ echo 41 steps in 3 s, run 0123abcd
40.5 steps in 9 s, run 4567cdef
```
<!-- exit: 3 -->
```console
$ echo no >&2; exit 3
no
```
```python
x = 2.0
```

```python
print(f"x = {x}")
print("y")
```

```text
x = 2.001
…
```
"""


def test_a_page_that_is_right_passes(tmp_path: Path) -> None:
    assert [snippet.kind for snippet in read(PAGE)] == ["file", "console", "console", "console", "python", "python"]
    assert check(PAGE, tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("x = 1\n$", "x = 2\n$", "line 6: cat a.toml\n- x = 2\n+ x = 1"),
        ("40.5 steps", "39 steps", "- 39 steps in 9 s, run 4567cdef\n+ 41 steps in 3 s, run 0123abcd"),
        ("exit: 3", "exit: 2", "exit code 3 instead of 2\nno"),
        ("2.001\n…", "2.001", "  x = 2.001\n+ y"),
        ("2.001\n…", "2.001\nz\n…", "  x = 2.001\n+ y\n- z\n- …"),
        ("x = 2.0\n", "x = 2.0 +\n", "SyntaxError: invalid syntax"),
        ("x = 2.0\n", "z = 2.0\n", "NameError: name 'x' is not defined"),
    ],
)
def test_a_page_that_is_wrong_fails_with_a_difference(right: str, wrong: str, message: str, tmp_path: Path) -> None:
    assert right in PAGE
    (problem,) = check(PAGE.replace(right, wrong), tmp_path)
    assert message in problem


def test_a_page_is_refreshed_where_it_differs(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    (tmp_path / "other").mkdir()
    assert refreshed(PAGE, tmp_path / "again") == PAGE
    new = refreshed(PAGE.replace("x = 1\n$", "x = 2\nmore\n$").replace("…", "z"), tmp_path / "other")
    assert new == PAGE.replace("2.001\n…", "2.0\ny")


@pytest.mark.parametrize(
    ("shown", "real", "equal"),
    [
        ("loss 0.120", "loss 0.121", True),  # the last digit
        ("loss 0.120", "loss 0.125", False),
        ("12 runs", "11 runs", False),  # a count is not a measurement
        ("step 5,319.3", "step  5,301.0", True),
        ("step 5,319.3", "step 5,001.0", False),
        ("T**0.84", "T**0.85", True),
        ("−3 %", "3 %", False),
        ("C = 1.56 [1.5, …", "C = 1.57 [1.4, 1.62], a = 3", True),
        ("C = 1.56 [1.5, …", "D = 1.57 [1.5, 1.62], a = 3", False),
        ("daybreak 0.1.0, commit c0ba9c68bb14", "daybreak 0.2.0, commit 0a11111", True),
        ("run emerged", "run censored", False),
    ],
)
def test_lines_agree_up_to_what_differs_each_time(shown: str, real: str, equal: bool) -> None:
    assert agrees(shown, real, 0.02) is equal


def test_left_out_lines() -> None:
    assert same(["a", "…", "b"], ["a", "x", "b", "y", "b"], 0)
    assert not same(["a", "…", "b"], ["a", "x", "b", "y"], 0)


def test_commands_of_the_readme_are_run_on_the_pages() -> None:
    """Each command of its table stands in Start or a tutorial, where it is run; the page and the demo have tests of their own."""
    table = re.findall(r"^\|.*\| `(daybreak [^`]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    run = {snippet.text for page in PAGES for snippet in read(page.read_text()) if snippet.kind == "console"}
    assert len(table) > 8
    assert set(table) - run <= {"daybreak explore", "daybreak demo", "daybreak reproduce --from-tables"}


def test_the_task_of_the_tutorial_is_that_of_the_guide() -> None:
    snippets = read((ROOT / "docs" / "tutorials" / "own-task.md").read_text())
    assert [x.text for x in snippets if x.name == "needle.py"] == [own.NEEDLE]


def test_the_sweep_of_the_tutorial_is_the_example() -> None:
    snippets = read((ROOT / "docs" / "tutorials" / "sweep.md").read_text())
    assert [x.text for x in snippets if x.name == "small.toml"] == [(ROOT / "examples" / "small.toml").read_text()]
