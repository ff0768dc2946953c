"""Parse, call one verb, show its answer. Errors and exit codes of every verb are decided here and nowhere else.

0 done · 1 the work failed · 2 the request was wrong (one sentence on stderr, nothing written) · 130 interrupted.
"""

import io
import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from difflib import get_close_matches
from importlib import import_module
from threading import Timer
from typing import Any

from daybreak import __version__
from daybreak.cli._help import VERBS, overview
from daybreak.errors import RequestError, WorkError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        with _no_interrupt_lost():
            _run(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()
    except RequestError as error:
        return _fail(str(error), 2)
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # a second one, while threads finish: exit at once
        return _fail(str(stop) or "Interrupted. Run the same command again to go on.", 130)
    except WorkError as error:
        return _fail(str(error), 1)
    except Exception as error:
        if os.environ.get("DAYBREAK_TRACEBACK"):
            raise
        return _fail(f"{type(error).__name__}: {error} (set DAYBREAK_TRACEBACK=1 to see where)", 1)
    return 0


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """A Ctrl-C that arrives where Python cannot raise, as in a callback of garbage collection, is sent again a moment later."""
    usual = sys.unraisablehook

    def hook(lost: Any) -> None:
        if lost.exc_type is KeyboardInterrupt:
            Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            usual(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


def _run(arguments: list[str]) -> None:
    """Print the help, the version, or the answer of a verb. Only what is asked for is imported: JAX takes seconds."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(overview())  # noqa: T201
    elif arguments == ["--version"]:
        print(f"daybreak {__version__}")  # noqa: T201
    elif arguments == ["--version", "--json"]:
        print(json.dumps({"version": __version__}))  # noqa: T201
    else:
        verb = _parse(*arguments)
        answer = verb.answer()
        if verb.json:
            print(json.dumps(answer.data, ensure_ascii=False, allow_nan=False))  # noqa: T201
        else:
            from rich.console import Console

            answer.show(Console(soft_wrap=True))


def _parse(name: str, *options: str) -> Any:
    """The verb of this name with its options.

    Raises:
        RequestError: for anything the parser refuses, as one sentence.
        SystemExit: after `--help`.
    """
    if name not in VERBS:
        near = "".join(f" Perhaps you meant {verb}." for verb in get_close_matches(name, VERBS, 1))
        raise RequestError(
            f"{name!r} is not a verb.{near} Available subcommands: {', '.join(VERBS)}. See daybreak --help."
        )
    import tyro

    verb, prog, left = _reader(name, list(options))
    refusal = io.StringIO()
    try:
        with redirect_stderr(refusal):
            return tyro.cli(verb, prog=prog, args=left)
    except SystemExit as stop:
        if not stop.code:
            raise
        raise RequestError(_sentence(refusal.getvalue())) from None


def _reader(name: str, options: list[str]) -> tuple[type, str, list[str]]:
    """What reads the options of a verb, the command so far, and the options left; a verb may choose by what they name."""
    module = import_module(f"daybreak.cli.{name}")
    if hasattr(module, "chosen"):
        return module.chosen(options)
    return getattr(module, name.capitalize()), f"daybreak {name}", options


def _sentence(message: str) -> str:
    """Tyro's framed message on one line: the fault, what it suggests instead, and the help to read.

    The frame is a box with its title in the border, or, where stdout is not UTF-8, a title over a line of dashes.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip("│╭╮╰╯ ") for line in plain.splitlines()]
    title, *rest = lines
    body = rest if title.startswith("─") else rest[1:]
    sections = [" ".join(x.split()) for x in re.split(r"^[─-]{3,}$", "\n".join(body), flags=re.MULTILINE)]
    sentences = [re.sub(r"^Error parsing \S+: ", "", sections[0].replace(" .", "."))]
    for section in sections[1:]:
        if near := re.match(r"Perhaps you meant: (\S+)", section):
            sentences.append(f"Perhaps you meant {near[1]}")
        elif section.startswith("Available subcommands"):
            sentences.append(section)
        elif section.startswith("For full helptext"):
            sentences.append(f"See {section[section.index('daybreak') :]}")
    return ". ".join(x.rstrip(".") for x in sentences) + "."


def _fail(sentence: str, code: int) -> int:
    """Print the sentence on stderr; returns the exit code."""
    print(f"daybreak: {sentence}", file=sys.stderr)  # noqa: T201
    return code
