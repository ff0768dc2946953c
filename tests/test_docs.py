"""Docs cannot drift: generated pages, the README's tree, Python examples, links and glossary agree with the package."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from docs.writing import python

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
LINKING = sorted(x for name in ("guides", "tutorials", "findings") for x in (ROOT / "docs" / name).glob("*.md"))
WORDS = ["cohort", "probe", "plateau", "censored", "claim", "lab", "lever", "flow", "law", "clean data", "sweep"]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = _load(ROOT / "docs" / "generate.py")


@pytest.mark.parametrize("name", GENERATE.PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == GENERATE.PAGES[name](), "run 'make docs'"


def test_the_scoreboard_has_grid_seeds_cost_and_command_of_each_figure() -> None:
    """Of the committed results: a trained figure of paper A, one by mathematics alone, one of paper B, and one of our own."""
    page = (ROOT / "docs" / "gallery.md").read_text()
    rows = {x[1]: x[2].split(" | ") for x in re.finditer(r"^\| <img [^|]+ \| \[([\w-]+)\](.+) \|$", page, re.MULTILINE)}
    assert rows.keys() == {one.name for one in GENERATE.read_all(ROOT / "results")}
    assert all(row[-1] == f"`daybreak reproduce {name}`" for name, row in rows.items())
    _, verdicts, here, there, seeds, cost, _ = rows["fig5"]
    assert "A5-p" in verdicts
    assert "N 12; V 64" in here and "N 32; V 256" in there
    assert seeds == "3 here, 3 in the paper"
    assert re.fullmatch(r"27 runs, [\d.]+ hours of one worker by the clock", cost)
    assert rows["fig1c"][3:6] == ["the same", "", "seconds"]
    assert rows["b-fig1"][4].endswith("1 in the paper")
    assert rows["schedules"][3] == "none: a study of ours"


@pytest.mark.parametrize("package", python.PACKAGES)
def test_every_public_name_is_in_the_reference(package: str) -> None:
    module = importlib.import_module(f"daybreak.{package}")
    ours = {name for name, x in vars(module).items() if str(getattr(x, "__module__", "")).startswith("daybreak.")}
    assert ours
    assert {name for name in ours if not name.startswith("_")} <= python.public(package).keys()
    page = (ROOT / "docs" / "reference" / f"{package}.md").read_text()
    assert all(re.search(rf"^\| \[?`{name}`", page, re.MULTILINE) for name in python.public(package))


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_a_page_begins_with_whom_it_is_for(page: Path) -> None:
    first = next(line for line in page.read_text().splitlines() if line and not line.startswith("#"))
    assert re.match(r"\*[^*]", first), f"{page.name} begins with {first!r}: begin with one line in italics, *For …*"


@pytest.mark.parametrize("verb", [(), ("theory",), ("train", "recall"), ("runs", "export")], ids=" ".join)
def test_the_reference_has_every_option_of_a_verb(verb: tuple[str, ...]) -> None:
    options = set(re.findall(r"^│ (--[\w.-]+)", GENERATE.help_text(*verb), re.MULTILINE))
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    title = f"daybreak {' '.join(verb)}" if verb else "Verbs"
    (section,) = re.findall(rf"^#+ {title}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert options
    assert {re.match(r"\| `(--[\w.-]+)", x)[1] for x in section.splitlines() if x.startswith("| `--")} == options  # pyright: ignore[reportOptionalSubscript]


def test_the_tree_in_the_readme_has_every_package_and_nothing_else() -> None:
    readme = (ROOT / "README.md").read_text()
    (tree,) = re.findall(r"^    src/daybreak/\n((?:      .*\n)+)", readme, re.MULTILINE)
    named = set(re.findall(r"^\s+(\w+(?:/|\.py))", tree, re.MULTILINE))
    source = ROOT / "src" / "daybreak"
    packages = {f"{file.parent.name}/" for file in source.glob("*/**/__init__.py")}
    modules = {file.name for file in source.glob("[a-z]*.py")}
    assert named == packages | modules


def _python_of(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_names_in_the_python_of_a_guide_exist(page: Path) -> None:
    for code in _python_of(page):
        tree, names = ast.parse(code), {}
        imports: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), page.name, "exec"), names)  # noqa: S102
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                assert hasattr(names[node.value.id], node.attr), ast.unparse(node)


def test_links_and_pictures_exist() -> None:
    for page in PAGES:
        for file, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#?([^)]*)\)", page.read_text()):
            target = page.parent / file if file else page
            assert target.exists(), f"{page.name}: {file}"
            assert not anchor or anchor in _anchors(target), f"{page.name}: {file}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """Headings, and names of the Python interface, whose sections the site makes from docstrings."""
    text = page.read_text()
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    return headings | set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))


@pytest.mark.parametrize("page", LINKING, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_page_links_the_first_use_of_a_word_to_the_glossary(page: Path) -> None:
    """For words that are not plain English. Headings, code, lines in italics, titles of other pages and tables of claims do not count."""
    other = r"\[[^]]*\]\((?!\.\./glossary)[^)]*\)"
    table = "" if page in GUIDES else r"|\|"
    skip = rf"(?s:```.*?```)|`[^`]*`|^(?:#|!\[|    {table}).*$|^\*(?s:[^*\s].*?)\*$|{other}"
    text = re.sub(skip, "", page.read_text(), flags=re.MULTILINE)
    text, unlinked = " ".join(text.split()), []
    for word in WORDS:
        first = re.search(rf"(?<![-\w]){word}s?\b", text, re.IGNORECASE)
        link = rf"\[(?:[^]]*\b)?{word}s?\b[^]]*\]\(\.\./glossary\.md#{word.replace(' ', '-')}\)"
        linked = re.search(link, text, re.IGNORECASE)
        if first is not None and (linked is None or linked.start() > first.start()):
            unlinked.append(text[first.start() - 30 : first.end() + 30])
    assert not unlinked


def test_no_registry_host_or_absolute_path_is_locked() -> None:
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+\-]+", line), line
