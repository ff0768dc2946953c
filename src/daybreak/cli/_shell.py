"""Parse, call one verb, show its answer. Errors and exit codes of every verb are decided here and nowhere else.

0 done · 1 the work failed · 2 the request was wrong (one sentence on stderr, nothing written) · 130 interrupted.
"""

import io
import json
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from itertools import pairwise, takewhile
from threading import Timer, current_thread, main_thread
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, Any

from daybreak import __version__
from daybreak.cli._help import VERBS, overview
from daybreak.errors import RequestError, WorkError, nearest

if TYPE_CHECKING:
    from rich.console import Console

_WIDEST = 10_000  # columns where nobody's terminal limits them

_IMPORTING = "<frozen importlib._bootstrap>"  # where frames of a running import are


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    _prepare_streams()
    try:
        with _no_interrupt_lost(), _no_import_interrupted():
            try:
                _run(list(sys.argv[1:] if arguments is None else arguments))
            finally:
                sys.stdout.flush()  # here and not while Python exits, also after --help
    except RequestError as error:
        return _fail(str(error), 2)
    except BrokenPipeError:  # the reader, such as head, has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # a second one, while threads finish: exit at once
        return _fail(str(stop) or "Interrupted. Run the same command again to go on.", 130)
    except WorkError as error:
        return _fail(str(error), 1)
    except OSError as error:
        what = (
            f"{error.filename!r} cannot be used: {error.strerror}" if error.filename else error.strerror or str(error)
        )
        return _fail(f"{what.rstrip('.')}.", 1)
    except Exception as error:
        if os.environ.get("DAYBREAK_TRACEBACK"):
            raise
        return _fail(f"{type(error).__name__}: {error} (set DAYBREAK_TRACEBACK=1 to see where)", 1)
    return 0


def _prepare_streams() -> None:
    """Output that nobody takes (`>&-`) is dropped, and a character that the terminal does not have becomes a question mark."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)  # until the process ends
            setattr(sys, name, io.TextIOWrapper(io.FileIO(nowhere, "w", closefd=False), "utf-8"))
        elif isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream):
            stream.reconfigure(errors="replace")


def _is_unicode(stream: Any) -> bool:
    return (stream.encoding or "utf-8").lower().startswith("utf")


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


@contextmanager
def _no_import_interrupted() -> Iterator[None]:
    """A Ctrl-C that arrives while a module is imported is sent again a moment later: interrupted, NumPy crashes.

    What a batch system sends before it kills (SIGTERM) counts as a Ctrl-C: the step that was reached is saved.
    """
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before is not signal.default_int_handler:  # ignored, as by nohup
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if any(x.f_code.co_filename == _IMPORTING for x, _ in walk_stack(frame)):
            Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    terminate = signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, terminate)
        signal.signal(signal.SIGINT, before)


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
            print(json.dumps(answer.data, ensure_ascii=not _is_unicode(sys.stdout), allow_nan=False))  # noqa: T201
        else:
            answer.show(_console())
        if answer.failure is not None:
            sys.stdout.flush()
            raise WorkError(answer.failure)


def _console() -> "Console":
    """Lines break between words in a terminal. In a pipe or a file they do not break, and tables are as wide as they need."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Output()
    if not console.is_terminal:
        console.soft_wrap = True
        if "COLUMNS" not in os.environ:
            console.width = _WIDEST
    return console


def _parse(name: str, *options: str) -> Any:
    """The verb of this name with its options.

    Raises:
        RequestError: for anything the parser refuses, as one sentence.
        SystemExit: after `--help`.
    """
    if name not in VERBS:
        near = nearest(name, VERBS)
        raise RequestError(
            f"{name!r} is not a verb.{f' Perhaps you meant {near}.' if near else ''} "
            f"Available subcommands: {', '.join(VERBS)}. See daybreak --help."
        )
    for before, value in pairwise((name, *options)):
        option = value[:-1] if re.fullmatch(r"--[^=]+=", value) else before
        if option != "--address" and (not value or option != before):
            folder = option in ("--lab", "--out", "--results")
            why = (
                "a folder needs a name; '.' is the current one"
                if folder
                else "its value is empty: give one, or leave it out"
            )
            raise RequestError(f"{option}: {why}.")
    import tyro

    verb, prog, rest = _reader(name, list(options))

    def ask(*options: str) -> Any:
        return tyro.cli(verb, prog=prog, args=options)

    if {"-h", "--help"} & {*rest}:
        return ask(*rest)
    refusal = io.StringIO()
    with _columns(_WIDEST):
        try:
            with redirect_stderr(refusal):
                return ask(*rest)
        except SystemExit:
            from daybreak.cli._refusal import sentence

            raise RequestError(sentence(refusal.getvalue(), lambda: _help(ask, rest))) from None


def _help(ask: Callable[..., Any], options: Sequence[str]) -> str:
    """The help of a verb, of the subcommand that the options begin with."""
    text = io.StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        ask(*takewhile(lambda x: not x.startswith("-"), options), "--help")
    return text.getvalue()


@contextmanager
def _columns(count: int) -> Iterator[None]:
    """The parser believes that the terminal has this many columns: its messages are read, and words must not be broken."""
    usual = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(count)
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if usual is not None:
            os.environ["COLUMNS"] = usual


def _reader(name: str, options: list[str]) -> tuple[type, str, list[str]]:
    """What reads the options of a verb, the command so far, and the options left; a verb may choose by what they name."""
    module = import_module(f"daybreak.cli.{name}")
    if hasattr(module, "chosen"):
        return module.chosen(options)
    return getattr(module, name.capitalize()), f"daybreak {name}", options


def _fail(sentence: str, code: int) -> int:
    """Print the sentence on stderr, in a terminal broken between words; returns the exit code."""
    text = " ".join(f"daybreak: {sentence}".splitlines())
    if sys.stderr.isatty():
        width = max(shutil.get_terminal_size().columns, 40)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    with suppress(OSError):  # nobody can be told
        print(text, file=sys.stderr, flush=True)  # noqa: T201
    return code
