"""Plain words: what stands in code, docs and examples can be read by somebody whose third language is English.

Exempt are `docs/log.md`, which is history, pages that the program writes, and calls such as `jnp.floor`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXEMPT = {"docs/log.md", "docs/reference/cli.md", "docs/gallery.md", "docs/benchmarks.md"}
SUFFIXES = {".py", ".md", ".toml", ".css", ".js"}
LONGEST = 140

# In names "_" ends a word. A space in a pattern also stands for a line break, with the "#" of a comment after it.
INSTEAD = {
    r"wak(?:e|es|ing)(?: |-)up|woke": "emerges, emerged",
    r"the house": "the package, the project",
    r"(?<![._])floors?(?!\()": "layer",
    r"rooms?": "package, module; space for an area",
    r"mend(?:s|ed|ing)?": "fix",
    r"dear": "expensive",
    r"scant(?:y|ier|iest|ily)?": "few, small, smallest",
    r"anybody at home": "in use",
    r"drawn on to": "extrapolated until",
    r"strik(?:e|es|ing) one": "reaches 1",
    r"(?:draw(?:s|ing)?|drawn) (?:\w+ )?configurations again": "cluster bootstrap over configurations",
    r"sooner": "earlier; n times faster",
    r"begins? so": "starts with",
    r"of no use": "unusable",
    r"a word from": "a message from",
}
_BREAK = r"\s+(?:#\s+)?"
PATTERNS = {
    re.compile(rf"(?<![a-z])(?:{bad.replace(' ', _BREAK)})(?![a-z])", re.IGNORECASE): good
    for bad, good in INSTEAD.items()
}


def _pages() -> list[Path]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in pages if _name(page) not in EXEMPT)


def _files() -> list[Path]:
    folders = [ROOT / name for name in ("src", "docs", "examples", "benchmarks", "notebooks")]
    inside = (file for folder in folders for file in folder.rglob("*") if file.suffix in SUFFIXES)
    return sorted({*_pages(), *(file for file in inside if _name(file) not in EXEMPT)})


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _hits(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, word, and what to write instead."""
    for pattern, instead in PATTERNS.items():
        for hit in pattern.finditer(text):
            yield text.count("\n", 0, hit.start()) + 1, " ".join(hit[0].split()), instead


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Line and length of sentences that are too long. Table rows and code do not count."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) > LONGEST and not (fenced or line.lstrip().startswith("|") or line.startswith("    ")):
            yield number, len(line)


def test_words_are_plain() -> None:
    hits = [
        f"{_name(file)}:{line}: {word!r}: write {instead}"
        for file in _files()
        for line, word, instead in sorted(_hits(file.read_text(encoding="utf-8")))
    ]
    assert not hits, "\n" + "\n".join(hits)


def test_lines_of_docs_are_short() -> None:
    long = [
        f"{_name(page)}:{line}: {length} characters: divide the sentence, or begin a new line before {LONGEST}"
        for page in _pages()
        for line, length in _long_lines(page.read_text(encoding="utf-8"))
    ]
    assert not long, "\n" + "\n".join(long)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a head wakes up", ["wakes up"]),
        ("extrapolated, drawn on\n# to where it strikes\none", ["drawn on # to", "strikes one"]),
        ("def make_room(floor): return _FLOOR", ["room", "floor"]),
        ("x = jnp.floor(y) + math.floor(z); ast.FloorDiv; operator.floordiv", []),
        ("recommended amendments to headroom; a broom; striking; drawn on the device", []),
        ("no id starts with 3f2a", []),
    ],
)
def test_patterns_find_what_they_should(text: str, words: list[str]) -> None:
    assert sorted(word for _, word, _ in _hits(text)) == sorted(words)


def test_long_lines_of_tables_and_code_are_exempt() -> None:
    long = "x" * (LONGEST + 1)
    text = f"{long}\n| {long} |\n    {long}\n```\n{long}\n```\n{long[:LONGEST]}"
    assert list(_long_lines(text)) == [(1, LONGEST + 1)]
