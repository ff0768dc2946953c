"""Tasks and models that are not part of the package: classes in somebody's own file, or in an installed package.

Loading a file executes it, like any program. So a file is loaded only if the present command, or a sweep file that it names,
names it; nothing that is stored in a lab is ever loaded by its name. What a run stores is the name of the class and a digest of
the file's bytes, not its path. Workers get the bytes with their job, so that every machine executes the same text; what is
installed they have themselves.
"""

import hashlib
import io
import linecache
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, final, get_args, get_origin, get_type_hints

from daybreak.errors import RequestError

Base = TypeVar("Base")

LONGEST = 1 << 20
"""Bytes of a file at most."""
PATIENCE = 60.0
"""Seconds that a file may take to load."""
_RESERVED = ("name", "source")  # what the JSON of a run says about a task besides its fields
_PLAIN = "use bool, int, float, str, a Literal of texts, or a tuple of numbers, each perhaps '| None'"


class Source(NamedTuple):
    """The text of a file that defines a task or a model."""

    file: str  # its name without the folder, for messages
    text: bytes

    @property
    def digest(self) -> str:
        """What a run stores of it."""
        return hashlib.sha256(self.text).hexdigest()[:16]


@final
@dataclass(frozen=True)
class _Loaded:
    """A module of this process, and the text it was made from."""

    module: ModuleType
    source: Source
    installed: bool  # so workers have it too


_LOADED: dict[str, _Loaded] = {}  # by the digest of the text


def find(what: str, name: str, kinds: Mapping[str, type[Base]], base: type[Base], folder: Path) -> type[Base]:
    """The class that a name means.

    Args:
        what: `task` or `model`, for messages and for the group of entry points.
        name: of a built-in one, of an installed one, or `path/to/file.py:Class`.
        kinds: the built-in ones.
        base: what the class must be derived from.
        folder: where relative paths start.

    Raises:
        RequestError: there is none, or it cannot be used; one sentence that names the file and, where there is one, the line.
    """
    path, colon, label = name.rpartition(":")
    if colon:
        loaded = _load(_read(what, name, folder / Path(path).expanduser()), installed=False)
        return _checked(what, label, base, loaded)
    if name in kinds:
        return kinds[name]
    points = installed(what)
    if name in points:
        return _imported(what, points[name], base)
    if name.endswith(".py"):
        raise RequestError(f"{what} = {name!r} is not allowed: name the class in the file too, as in {name}:Name.")
    near = get_close_matches(name, [*kinds, *points], 1)
    known = f"choose one of {', '.join([*kinds, *points])}, or name a class in a file, as in my_{what}.py:Name"
    raise RequestError(f"{what} {name!r} is unknown: {f'perhaps you meant {near[0]!r}' if near else known}.")


@cache
def installed(what: str) -> dict[str, EntryPoint]:
    """The tasks or models of installed packages by name: their entry points `daybreak.tasks` and `daybreak.models`."""
    return {point.name: point for point in entry_points(group=f"daybreak.{what}s")}


def known(what: str, name: str, digest: str, base: type[Base]) -> type[Base] | None:
    """The class of this name in a text of this digest, if it is loaded here or installed; None if not."""
    for point in installed(what).values() if digest not in _LOADED else ():
        if point.attr == name:
            with suppress(RequestError):  # an installed package that is broken is no reason not to read a lab
                _imported(what, point, base)
    loaded = _LOADED.get(digest)
    return None if loaded is None else _checked(what, name, base, loaded)


def present(name: str) -> Source | None:
    """A text that is loaded here and has a class of this name."""
    return next((x.source for x in _LOADED.values() if isinstance(vars(x.module).get(name), type)), None)


@cache
def identity(kind: type) -> dict[str, str]:
    """What a run stores about a class that is not built in: its name, and the digest of the text that defines it."""
    return {"name": kind.__name__, "source": _loaded(kind).source.digest}


def sources(kinds: Iterable[type]) -> list[Source]:
    """The texts that a worker needs for these classes, each once."""
    needed = {x.source: x.module for x in map(_loaded, kinds) if not x.installed}
    if sys.modules["__main__"] in needed.values():
        raise RequestError(
            "workers would run this program again to get its task or model: define the class in a file of its own, and load "
            "it with daybreak.tasks.find or daybreak.models.find."
        )
    return sorted(needed)


def define(source: Source) -> None:
    """Load a text that came with a job."""
    _load(source, installed=False)


@contextmanager
def located() -> Iterator[None]:
    """An error raised in somebody's own code becomes a refused request that names its file and line."""
    try:
        yield
    except RequestError:
        raise
    except Exception as error:
        for loaded in _LOADED.values():
            if (line := _line(error, str(loaded.module.__file__))) is not None:
                raise _refused(loaded.source, line, error) from error
        raise


def _read(what: str, name: str, path: Path) -> Source:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            why = "it is not a regular file"
        elif about.st_size > LONGEST:
            why = f"it has {about.st_size:,} bytes, and at most {LONGEST:,} are allowed"
        else:
            return Source(path.name, path.read_bytes())
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
    raise RequestError(f"{what} = {name!r} cannot be read: {why}.")


def _load(source: Source, *, installed: bool) -> _Loaded:
    """The module of a text, made when it is first asked for: nothing is written, and no folder is searched."""
    if source.digest in _LOADED:
        return _LOADED[source.digest]
    module = ModuleType(f"daybreak_own_{source.digest}")
    module.__file__ = f"{source.file} ({source.digest})"  # in tracebacks; the same on every machine
    text = source.text.decode("utf-8", errors="replace")
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(keepends=True), module.__file__)
    sys.modules[module.__name__] = module  # where annotations are looked up
    try:
        code = compile(source.text, module.__file__, "exec", dont_inherit=True)
        with _limited(), redirect_stdout(sys.stderr or io.StringIO()):  # stdout is for the answer
            exec(code, vars(module))  # noqa: S102 (the user's own program, named in the command)
    except KeyboardInterrupt:
        del sys.modules[module.__name__]
        raise
    except BaseException as error:  # also SystemExit: a file must not end the command
        del sys.modules[module.__name__]
        line = error.lineno if isinstance(error, SyntaxError) else _line(error, module.__file__)
        raise _refused(source, line, error) from error
    return _LOADED.setdefault(source.digest, _Loaded(module, source, installed))


class _TooLongError(BaseException):
    """A file did not end."""


@contextmanager
def _limited() -> Iterator[None]:
    """Raise in the code inside if it does not end; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooLongError(f"it did not end within {PATIENCE:g} seconds")

    usual = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1)  # again, if the file catches it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)


def _line(error: BaseException, file: str) -> int | None:
    """The line of a file at which an error was raised, the innermost one."""
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == file:
            line = at.tb_lineno
        at = at.tb_next
    return line


def _refused(source: Source, line: int | None, error: BaseException) -> RequestError:
    place = source.file if line is None else f"{source.file}, line {line}"
    first = (str(error.msg) if isinstance(error, SyntaxError) else str(error)).strip().partition("\n")[0]
    kind = "" if isinstance(error, RequestError | _TooLongError) else type(error).__name__
    return RequestError(f"{place}: {': '.join(x for x in (kind, first) if x).rstrip('.')}.")


def _imported(what: str, point: EntryPoint, base: type[Base]) -> type[Base]:
    """The class of an entry point."""
    try:
        kind = point.load()
        text = Path(str(sys.modules[kind.__module__].__file__)).read_bytes()
    except Exception as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        raise RequestError(
            f"{what} {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {why}."
        ) from error
    module = sys.modules[kind.__module__]
    source = Source(Path(str(module.__file__)).name, text)
    return _checked(what, kind.__name__, base, _LOADED.setdefault(source.digest, _Loaded(module, source, True)))


def _loaded(kind: type) -> _Loaded:
    """The module that defines a class; one that a Python program has imported itself is read from its file."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or vars(module).get(kind.__name__) is not kind:
        raise RequestError(f"{kind.__name__} is not allowed: its class must be defined in a file, at the top level.")
    found = next((x for x in _LOADED.values() if x.module is module), None)
    if found is not None:
        return found
    source = Source(Path(file).name, Path(file).read_bytes())
    return _LOADED.setdefault(source.digest, _Loaded(module, source, False))


def _checked(what: str, name: str, base: type[Base], loaded: _Loaded) -> type[Base]:
    """The class of a module by its name, which must be one that runs can be made of."""
    file, module = loaded.source.file, loaded.module
    kind = vars(module).get(name)
    if kind is None:
        own = [x.__name__ for x in vars(module).values() if _is_kind(x, base) and x.__module__ == module.__name__]
        has = f"it has {' and '.join(own)}" if own else f"it has no {what}"
        raise RequestError(f"there is no {name!r} in {file}: {has}.")
    article = f"daybreak.{what}s.{base.__name__}"
    if not _is_kind(kind, base):
        raise RequestError(f"{name!r} in {file} is not a {what}: it must be a class derived from {article}.")
    if isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise RequestError(f"{name!r} in {file} is not a {what} yet: it does not define {missing}.")
    _check_fields(kind, file)
    return kind


def _is_kind(thing: Any, base: type) -> bool:
    return isinstance(thing, type) and issubclass(thing, base)


@cache
def _check_fields(kind: type, file: str) -> None:
    """Refuse fields that the command, JSON or SQL cannot hold."""
    place = f"of {kind.__name__!r} in {file} is not allowed"
    hints, seen = get_type_hints(kind), {}
    for field in fields(kind):
        if field.name in _RESERVED or field.name.startswith("_"):
            raise RequestError(f"field {field.name!r} {place}: choose another name.")
        if other := seen.get(field.name.lower()):
            raise RequestError(f"field {field.name!r} {place}: it differs from {other!r} in upper and lower case only.")
        if not _is_plain(hints[field.name]):
            raise RequestError(f"field {field.name!r} {place}: its type is not plain; {_PLAIN}.")
        if float not in (hints[field.name], *get_args(hints[field.name])) and not field.metadata.get("static"):
            raise RequestError(
                f"field {field.name!r} {place}: it is no float, so write eqx.field(static=True, default=…)."
            )
        seen[field.name.lower()] = field.name


def _is_plain(hint: Any) -> bool:
    parts = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        others = [x for x in parts if x is not NoneType]
        return len(others) == 1 and len(parts) == 2 and _is_plain(others[0])
    if get_origin(hint) is Literal:
        return all(isinstance(x, str) for x in parts)
    if get_origin(hint) is tuple:
        return len(parts) == 2 and parts[0] in (int, float) and parts[1] is ...
    return hint in (bool, int, float, str)
