"""`daybreak explore`: the page over theory, laws, runs, forecasts and claims."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Annotated, final

import tyro

from daybreak.cli._answer import Answer, Json, WholeNumber
from daybreak.cli._lab import LabFolder
from daybreak.errors import RequestError


@final
@dataclass(frozen=True)
class Explore:
    """Explore theory, laws, runs, forecasts and claims on a page in your browser, until Ctrl-C.

    The page is served from this machine to this machine; nothing is loaded from elsewhere.

    Example: daybreak explore --lab lab --port 8050
    """

    lab: LabFolder = Path("lab")
    results: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="DIR",
            help="Folder that 'daybreak reproduce' wrote to. By default ./results if it has some, otherwise those that come with Daybreak.",
        ),
    ] = None
    port: Annotated[WholeNumber, tyro.conf.arg(help="Port to listen on; 0 takes a free one.")] = 8050
    host: Annotated[
        str,
        tyro.conf.arg(
            metavar="ADDRESS",
            help="Address to listen on. With any other than the default, everyone who can reach it can read the lab.",
        ),
    ] = "127.0.0.1"
    json: Json = False

    def answer(self) -> Answer:
        """Listen, print the address, and serve until interrupted."""
        if not 0 <= self.port <= 65535:
            raise RequestError(f"port = {self.port} is not allowed: it must lie between 0 and 65535.")
        for name, folder in (("lab", self.lab), ("results", self.results)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise RequestError(f"{name} = {str(folder)!r} is not allowed: it is a file, not a folder.")
        try:
            from daybreak.explorer import Workspace, explorer, listen, serve, warm
        except ImportError as error:
            raise RequestError(
                f"explore is not possible: {error.name} is not installed. Install Daybreak with its extra 'explorer', or "
                "pip install dash waitress."
            ) from None
        with listen(self.host, self.port) as at:
            shown = f"[{self.host}]" if ":" in self.host else self.host
            url = f"http://{shown}:{at.getsockname()[1]}/"
            results = self._results()
            app = explorer(Workspace(self.lab, results), self.host)
            print(f"The explorer is at {url} until Ctrl-C.", file=sys.stderr, flush=True)  # noqa: T201
            warming = Thread(target=warm)
            warming.start()
            with suppress(KeyboardInterrupt):
                serve(app, at)
            warming.join()  # the process must not end while JAX compiles
        return Answer({"url": url, "lab": str(self.lab), "results": str(results)}, lambda console: None)

    def _results(self) -> Path:
        """The folder of results to show."""
        from daybreak.studies.results import read_every_scale, shipped

        here = self.results or Path("results")
        return here if self.results is not None or read_every_scale(here) else shipped()
