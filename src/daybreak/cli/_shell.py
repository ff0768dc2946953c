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
from importlib import import_module
from threading import Timer
from typing import Annotated, Any, Union

import tyro
from rich.console import Console

from daybreak.errors import RequestError, WorkError

VERBS = ("demo", "theory", "train", "sweep", "runs", "fit", "forecast", "advise", "reproduce", "explore", "doctor")
"""In the order of the help text; `daybreak.cli.demo.Demo` is what `daybreak demo` does, and so on."""

_ABOUT = "Measure, explain, predict and hasten the emergence of sparse attention in training."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        with _no_interrupt_lost():
            verb = parse(sys.argv[1:] if arguments is None else arguments)
            answer = verb.answer()
            if verb.json:
                print(json.dumps(answer.data, ensure_ascii=False, allow_nan=False))  # noqa: T201
            else:
                answer.show(Console(soft_wrap=True))
            sys.stdout.flush()
    except RequestError as error:
        return _say(str(error), 2)
    except BrokenPipeError:  # the reader, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # again, while threads come to their end: at once
        return _say(str(stop) or "Interrupted. Run the same command again to go on.", 130)
    except WorkError as error:
        return _say(str(error), 1)
    except Exception as error:
        if os.environ.get("DAYBREAK_TRACEBACK"):
            raise
        return _say(f"{type(error).__name__}: {error} (set DAYBREAK_TRACEBACK=1 to see where)", 1)
    return 0


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """A Ctrl-C that lands where Python cannot raise, as in a callback of garbage collection, comes again a moment later."""
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


def parse(arguments: Sequence[str]):
    """The verb that the arguments ask for.

    Raises:
        RequestError: for anything the parser refuses, as one sentence.
        SystemExit: after `--help`.
    """
    if not arguments:
        arguments = ["--help"]
    refusal = io.StringIO()
    try:
        with redirect_stderr(refusal):
            return tyro.cli(_verb(arguments[0]), prog="daybreak", description=_ABOUT, args=list(arguments))
    except SystemExit as stop:
        if not stop.code:
            raise
        raise RequestError(_sentence(refusal.getvalue(), arguments[0])) from None


def _verb(name: str) -> Any:
    """What can be asked for. If it is clear which verb is meant the others are not imported: some take a second."""
    wanted = dict.fromkeys((name, *VERBS[-2:]) if name in VERBS else VERBS)  # of one alone tyro makes no subcommand
    kinds = {verb: getattr(import_module(f"daybreak.cli.{verb}"), verb.capitalize()) for verb in wanted}
    return Union[tuple(Annotated[kind, tyro.conf.subcommand(verb)] for verb, kind in kinds.items())]  # noqa: UP007


def _sentence(message: str, verb: str) -> str:
    """What tyro's framed message says, on one line: the fault, what it suggests instead, and where all is explained.

    The frame is a box with its title in the border, or, where stdout is not UTF-8, a title over a line of dashes.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip("│╭╮╰╯ ") for line in plain.splitlines()]
    title, *rest = lines
    body = rest if title.startswith("─") else rest[1:]
    sections = [" ".join(x.split()) for x in re.split(r"^[─-]{3,}$", "\n".join(body), flags=re.MULTILINE)]
    said = [re.sub(r"^Error parsing \S+: ", "", sections[0].replace(" .", "."))]
    for section in sections[1:]:
        if near := re.match(r"Perhaps you meant: (\S+)", section):
            said.append(f"Perhaps you meant {near[1]}")
        elif section.startswith("Available subcommands"):
            said.append(section)
        elif section.startswith("For full helptext"):
            where = section[section.index("daybreak") :]
            said.append(f"See {where.replace('daybreak --', f'daybreak {verb} --') if verb in VERBS else where}")
    return ". ".join(x.rstrip(".") for x in said) + "."


def _say(sentence: str, code: int) -> int:
    print(f"daybreak: {sentence}", file=sys.stderr)  # noqa: T201
    return code
