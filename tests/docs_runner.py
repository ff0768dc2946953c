"""Run a Markdown page as a reader would, in an empty folder, and compare what it shows with what one gets.

    python -m tests.docs_runner docs/start.md      prints the page with real outputs where the shown ones differ

| in the page | what happens |
|---|---|
| ```console | each `$ line` is run by the shell; the lines below it are its output |
| ```python | is run; all blocks of a page share their names. A ```text block right after it is its output |
| a language with title="NAME" | is saved as the file NAME |
| <!-- tolerance: 10 % --> | before a block: its numbers may differ by that much; 2 % without it |
| <!-- exit: 2 --> | before a console block: its commands end with that code |
| … | alone in a line: any lines. At the end of a line: any rest |

Ids, times, durations, versions and the dots of charts may differ. So may the last digit of a decimal number.
"""

import difflib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

ROOT = Path(__file__).parents[1]
LONGEST = 600  # seconds for one snippet, on a machine that does much else
_FENCE = re.compile(r'```(\w+)(?: title="([^"]+)")?$')
_OPTION = re.compile(r"<!-- (tolerance|exit): (.+?)(?: %)? -->$")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
_PROGRESS = re.compile(r"\d+ of \d+ runs\b")
_APART = {  # what differs from one time to the next, and the sign that stands for it
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:\d\d)?)?": "⟨time⟩",
    r"\b\d[\d,.]* ?(?:ms|s|seconds?|minutes?|hours?)\b|(?<=seconds )[\d.]+": "⟨duration⟩",
    r"\b\d+\.\d+\.\d+\b": "⟨version⟩",
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,16}\b": "⟨id⟩",
    r"[\u2800-\u28ff\s]+": " ",  # also the dots of charts
    r"─+": "─",
}
_PYTHON = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    out, code = io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            exec(compile(json.loads(line), "page", "exec"), names)
        except BaseException:
            traceback.print_exc()
            code = 1
    print(json.dumps([out.getvalue(), code]), flush=True)
"""


@dataclass(frozen=True)
class Snippet:
    """A command, some Python or a file to write; what the page shows below it, and in which lines."""

    kind: str
    text: str
    line: int
    shown: tuple[str, ...] | None = None
    lines: tuple[int, int] = (0, 0)
    name: str = ""
    tolerance: float = 0.02
    exit: int = 0


def read(text: str) -> list[Snippet]:
    """What of a page is run, in order."""
    lines, found, options, start = text.splitlines(), [], {}, 0
    while start < len(lines):
        option, fence = _OPTION.match(lines[start]), _FENCE.match(lines[start])
        if option:
            options[option[1]] = float(option[2])
        if fence is None:
            start += 1
            continue
        end = lines.index("```", start + 1)
        settings = {"tolerance": options.get("tolerance", 2.0) / 100, "exit": int(options.get("exit", 0))}
        found += _block(fence[1], fence[2] or "", lines, start + 1, end, settings)
        options, start = {}, end + 1
    return found


def _block(language: str, name: str, lines: Sequence[str], start: int, end: int, settings: dict) -> Iterator[Snippet]:
    body = "\n".join([*lines[start:end], ""])
    if name:
        yield Snippet("file", body, start, name=name)
    elif language == "python":
        below = end + 1 if end + 1 < len(lines) and lines[end + 1] else end + 2
        if below < len(lines) and lines[below] == "```text":
            last = lines.index("```", below)
            yield Snippet("python", body, start, tuple(lines[below + 1 : last]), (below + 1, last), **settings)
        else:
            yield Snippet("python", body, start, **settings)
    elif language == "console":
        commands = [i for i in range(start, end) if lines[i].startswith("$ ")]
        for i, after in zip(commands, [*commands[1:], end], strict=True):
            yield Snippet("console", lines[i][2:], i + 1, tuple(lines[i + 1 : after]), (i + 1, after), **settings)


@dataclass
class Session(AbstractContextManager):
    """A folder, the commands of this environment, and one Python that remembers its names."""

    folder: Path
    python: subprocess.Popen[str] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.python is not None:
            self.python.communicate()

    def run(self, snippet: Snippet) -> tuple[list[str], int]:
        """The lines of output, and the exit code."""
        if snippet.kind == "file":
            (self.folder / snippet.name).write_text(snippet.text)
        elif snippet.kind == "python":
            out, code = self._python(snippet.text)
            return _lines(out), code
        else:
            done = subprocess.run(
                ["/bin/sh", "-c", snippet.text],
                cwd=self.folder,
                env=_environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LONGEST,
            )
            return _lines(done.stdout), done.returncode
        return [], 0

    def _python(self, code: str) -> tuple[str, int]:
        if self.python is None:
            command, pipe = [sys.executable, "-c", _PYTHON], subprocess.PIPE
            self.python = subprocess.Popen(
                command, cwd=self.folder, env=_environment(), stdin=pipe, stdout=pipe, text=True
            )
        assert self.python.stdin is not None
        assert self.python.stdout is not None
        self.python.stdin.write(f"{json.dumps(code)}\n")
        self.python.stdin.flush()
        return tuple(json.loads(self.python.stdout.readline()))  # pyright: ignore[reportReturnType]


def _environment() -> dict[str, str]:
    """The user's, with this environment's commands first, and no warning that another test is compiling the same program."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    quiet = "ignore:Error reading persistent compilation cache"
    return os.environ | {"PATH": path, "MPLBACKEND": "Agg", "PYTHONWARNINGS": quiet, "COLUMNS": "100"}


def _lines(output: str) -> list[str]:
    """Without progress, which a slow machine shows and a fast one does not."""
    lines = (line.rstrip() for line in output.rstrip().splitlines())
    return [line for line in lines if not _PROGRESS.match(line)]


def agrees(shown: str, real: str, tolerance: float) -> bool:
    """Whether two lines are equal, apart from what differs each time and from numbers that are close."""
    for pattern, sign in _APART.items():
        shown, real = re.sub(pattern, sign, shown), re.sub(pattern, sign, real)
    shown, real = shown.strip(), real.strip()
    if shown.endswith("…"):
        words = len(_NUMBER.sub("#", shown[:-1]))
        return agrees(shown[:-1], _first(real, words), tolerance) if shown != "…" else True
    if _NUMBER.sub("#", shown) != _NUMBER.sub("#", real):
        return False
    return all(map(_close, _NUMBER.findall(shown), _NUMBER.findall(real), [tolerance] * len(real)))


def _first(line: str, length: int) -> str:
    """The start of a line in which each number counts as one character."""
    end = 0
    while length and end < len(line):
        number = _NUMBER.match(line, end)
        end, length = number.end() if number else end + 1, length - 1
    return line[:end]


def _close(shown: str, real: str, tolerance: float) -> bool:
    x, y = (float(text.replace(",", "").replace("−", "-")) for text in (shown, real))
    decimals = re.search(r"\.(\d+)", shown)
    digit = 1.01 * 10.0 ** -len(decimals[1]) if decimals and "e" not in shown else 0.0
    return abs(x - y) <= max(tolerance * abs(x), digit)


def same(shown: Sequence[str], real: Sequence[str], tolerance: float) -> bool:
    """Whether an output is the shown one, where … stands for any lines."""
    if not shown:
        return not real
    if shown[0].strip() == "…":
        return any(same(shown[1:], real[i:], tolerance) for i in range(len(real) + 1))
    return bool(real) and agrees(shown[0], real[0], tolerance) and same(shown[1:], real[1:], tolerance)


def difference(snippet: Snippet, real: Sequence[str], code: int) -> str:
    """Empty if the page is right; else what is wrong, with lines of the page (-) and of the real output (+)."""
    if code != snippet.exit:
        return "\n".join([f"exit code {code} instead of {snippet.exit}", *real])
    shown = [] if snippet.shown is None else [line for line in snippet.shown if line.strip()]
    real = [line for line in real if line.strip()]
    if snippet.shown is None or same(shown, real, snippet.tolerance):
        return ""
    close = [next((x for x in shown if x.strip() != "…" and agrees(x, line, snippet.tolerance)), line) for line in real]
    return "\n".join(line for line in difflib.ndiff(shown, close) if not line.startswith("?"))


def check(text: str, folder: Path) -> list[str]:
    """Every snippet of a page that does not give what is shown; the first failure of Python or a command ends the page."""
    wrong = []
    with Session(folder) as session:
        for snippet in read(text):
            real, code = session.run(snippet)
            if problem := difference(snippet, real, code):
                wrong.append(f"line {snippet.line}: {snippet.text.strip()}\n{problem}")
            if code != snippet.exit:
                break
    return wrong


def refreshed(text: str, folder: Path) -> str:
    """The page with real outputs in place of those that differ."""
    lines, shift = text.splitlines(), 0
    with Session(folder) as session:
        for snippet in read(text):
            real, code = session.run(snippet)
            if snippet.shown is not None and difference(snippet, real, code):
                start, end = (i + shift for i in snippet.lines)
                lines[start:end] = real
                shift += len(real) - (end - start)
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
    for name in sys.argv[1:]:
        with TemporaryDirectory() as empty:
            out.write(refreshed(Path(name).read_text(), Path(empty)))
    out.flush()
