"""Build the site: `python docs/build_site.py [FOLDER]`, by default into `site/`. Nothing is fetched; a broken link or anchor fails.

Pages are written to be read in the repository, so some of their links leave docs/. They are staged: what a link names is copied,
and the link is changed to where the copy is. Zensical then builds the staged pages, and every link of the result is checked.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_DOCS = Path(__file__).resolve().parent
_ROOT = _DOCS.parent
sys.path.insert(0, str(_ROOT))  # run as a file, this folder is on the path, and not the repository

from docs.site_links import problems  # noqa: E402

_CONFIG, _EXTENSION = "zensical.toml", "docstrings.py"
_LINK = re.compile(r'(\]\(|\bsrc=")(?![a-z]+:)([^)#"\s]+)')
_SHOWN = {
    ".html",
    ".json",
    ".md",
    ".pdf",
    ".png",
    ".svg",
    ".txt",
}  # what a browser shows; other files get the suffix .txt
_INSTEAD_OF = {
    "README.md": "index.md",
    "results": "gallery.md",
}  # pages of the site in place of what only the repository has
_ROOT_PAGES = {  # of the repository's root, and whom they are for
    "CHANGELOG.md": "For users who update: what changed, release by release.",
    "CONTRIBUTING.md": "For developers: how to change Daybreak itself.",
    "SECURITY.md": "For users who run files of other people, or who found a weakness.",
}


def stage(folder: Path) -> None:
    """Write pages, pictures and configuration to a folder, with links that work there."""
    pages = folder / "pages"
    shutil.copytree(_DOCS, pages, ignore=shutil.ignore_patterns("*.py", "__pycache__", "screenshots", _CONFIG))
    for source in _DOCS.rglob("*.md"):
        text = source.read_text(encoding="utf-8")
        (pages / source.relative_to(_DOCS)).write_text(_staged(text, source, pages), encoding="utf-8")
    for name, reader in _ROOT_PAGES.items():
        if (source := _ROOT / name).exists():
            text = _for_whom(source.read_text(encoding="utf-8"), reader)
            (pages / name.lower()).write_text(_staged(text, source, pages), encoding="utf-8")
    shutil.copyfile(_DOCS / "site" / _EXTENSION, folder / _EXTENSION)
    (folder / _CONFIG).write_text(navigation((_DOCS / "site" / _CONFIG).read_text(encoding="utf-8"), pages))


def _staged(text: str, source: Path, pages: Path) -> str:
    """The text of a page whose links to files outside docs/ lead to copies; nested lists as Python-Markdown wants them."""

    def relink(link: re.Match[str]) -> str:
        before, target = link.groups()
        file = (source.parent / target).resolve()
        if not file.is_relative_to(_ROOT) or not file.exists():
            return link[0]  # not a link, or a broken one, which the check of the site reports
        return before + os.path.relpath(_copied(file, pages), _place(source, pages).parent)

    return _LINK.sub(relink, _without_folders(lists(text), source))


def lists(text: str) -> str:
    """Lists as Python-Markdown wants them: an empty line before, and four spaces inside, where GitHub is content with two."""
    lines: list[str] = []
    inside = fenced = parted = False  # in a list, in a block of code, below an empty line of this list
    for line in text.splitlines(keepends=True):
        fenced ^= line.lstrip().startswith("```")
        blank, item = not line.strip(), not fenced and re.match(r"- |\d+\. ", line) is not None
        if item and (parted or not inside) and lines and lines[-1].strip():
            lines.append("\n")
        inside = item or (inside and (blank or line.startswith("  ") or bool(lines[-1].strip())))
        parted = inside and not item and (blank or parted)
        lines.append(f"  {line}" if inside and line.startswith("  ") else line)
    return "".join(lines)


def _without_folders(text: str, source: Path) -> str:
    """Links to folders become plain text: a site has no page for them, or it is the page of the link itself."""

    def plain(link: re.Match[str]) -> str:
        folder = (source.parent / link[2]).resolve()
        return link[1] if folder.is_dir() and _INSTEAD_OF.get(folder.name) in (None, source.name) else link[0]

    return re.sub(r"\[([^]]+)\]\((?![a-z]+:)([^)#\s]+)\)", plain, text)


def _place(file: Path, pages: Path) -> Path:
    """Where a file of the repository is on the site."""
    name = file.relative_to(_ROOT).as_posix()
    if name in _INSTEAD_OF:
        return pages / _INSTEAD_OF[name]
    if file.is_relative_to(_DOCS):
        return pages / file.relative_to(_DOCS)
    if name in _ROOT_PAGES:
        return pages / name.lower()
    return pages / (name if file.suffix in _SHOWN else f"{name}.txt")


def _copied(file: Path, pages: Path) -> Path:
    place = _place(file, pages)
    if file.is_file() and not place.exists() and file.suffix != ".md":
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return place


def _for_whom(text: str, reader: str) -> str:
    title, _, rest = text.partition("\n")
    return f"{title}\n\n*{reader}*\n{rest}"


def navigation(config: str, pages: Path) -> str:
    """The configuration without lines of the navigation whose page is missing. A page that it does not name is refused."""
    lines, named = [], set()
    for line in config.splitlines(keepends=True):
        page = re.search(r'= "([\w/.-]+\.md)" \}', line)
        if page is None or (pages / page[1]).exists():
            lines.append(line)
        if page is not None:
            named.add(page[1])
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    if extra := sorted(there - named):
        sys.exit(f"docs/{extra[0]} is not in the navigation: add it to docs/site/{_CONFIG}.")
    return "".join(lines)


def check(out: Path) -> None:
    """Refuse a folder with anything in it that is not a site: it would be replaced."""
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "sitemap.xml").exists())):
        sys.exit(f"{out} is not a site: give a folder that is empty or does not exist.")


def build(out: Path) -> None:
    """Build the site into a folder, in place of an older one. Exits with one sentence for each broken link."""
    check(out)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stage(folder)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(folder / _CONFIG)]
        here = os.environ | {"PYTHONPATH": str(_ROOT / "src")}  # docstrings of this checkout, whatever is installed
        done = subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            said = re.sub(
                r"\x1b\[[0-9;]*m|^(?:griffe:|Build started).*\n", "", done.stdout + done.stderr, flags=re.MULTILINE
            )
            sys.exit(f"{said.partition('Traceback')[0].strip()}\nThe site was not built.")
        if broken := problems(folder / "site"):
            sys.exit("\n".join([*broken, "The site was not built."]))
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "site", out)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else _ROOT / "site"
    try:
        build(target)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted: the site is as it was.\n")
        sys.exit(130)
    sys.stdout.write(f"{target / 'index.html'} written\n")
