"""What is wrong with the pages of a built site: links that lead nowhere, other hosts, Markdown that is shown as text."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
}  # what a browser fetches without being asked
_CODE = ("pre", "code", "script", "style")


class _Page(HTMLParser):
    """Ids, links and fetched addresses of a page, and lines of Markdown that were not understood."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.raw: list[str] = []
        self._paragraph = False
        self._code = 0  # how many tags of code are open
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names."""
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        self._code += tag in _CODE
        self._paragraph = tag == "p" or (self._paragraph and tag not in ("pre", "code"))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in _LOADED and found.get(_LOADED[tag]):
            self.loaded.append(found[_LOADED[tag]])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loaded.append(found["href"])

    def handle_endtag(self, tag: str) -> None:
        """A paragraph or a piece of code ends."""
        self._code -= tag in _CODE
        self._paragraph = self._paragraph and tag != "p"

    def handle_data(self, data: str) -> None:
        """Find what GitHub understands and this site does not: a list or table directly below a sentence, escapes of other marks."""
        if self._paragraph:
            self.raw += re.findall(r"\n((?:- |\d+\. |\|.*\|).{0,40})", data)
        if not self._code:
            self.raw += re.findall(r"\\[<>*_|\[\]].{0,20}", data)


def problems(site: Path) -> list[str]:
    """One sentence for each thing that is wrong."""
    pages = {path: _Page(path) for path in sorted(site.resolve().rglob("*.html")) if path.name != "404.html"}
    return [
        f"{path.relative_to(site.resolve()).as_posix()}: {problem}"
        for path, page in pages.items()
        for problem in _of_page(path, page, pages)
    ]


def reached(site: Path, start: Path) -> dict[Path, int]:
    """How many clicks on links in the text of pages lead from one page to each other one, at least."""
    clicks, edge = {start: 0}, [start]
    while edge:
        path = edge.pop(0)
        for target in _targets(path):
            if target not in clicks and target.is_relative_to(site) and target.suffix == ".html" and target.exists():
                clicks[target] = clicks[path] + 1
                edge.append(target)
    return clicks


def _targets(path: Path) -> list[Path]:
    """What the text of a page links to, without its navigation."""
    text = re.search(r"<article.*?</article>", path.read_text(encoding="utf-8"), re.DOTALL)
    links = re.findall(r'<a [^>]*href="([^":#]+)[#"]', text[0]) if text else []
    return [(path.parent / unquote(link)).resolve() for link in links]


def _advice(text: str) -> str:
    angle = text.startswith(("\\<", "\\>"))
    return "write &lt; or &gt;" if angle else "remove the backslash" if text[0] == "\\" else "put an empty line above"


def _of_page(path: Path, page: _Page, pages: dict[Path, _Page]) -> list[str]:
    found = [f"{text!r} is shown as text: {_advice(text)}" for text in page.raw]
    for address in dict.fromkeys([*page.links, *page.loaded]):
        url = urlsplit(address)
        if url.scheme or url.netloc:
            if address in page.loaded and url.scheme != "data":
                found.append(f"{address} would be loaded from another host")
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            found.append(f"the link {address} leads nowhere")
        elif url.fragment and target in pages and unquote(url.fragment) not in pages[target].ids:
            found.append(f"the anchor of {address} does not exist")
    return found
