"""Take the pictures of the explorer that README and docs show: `python -m docs.screenshots LAB`.

The theory, laws and claims are those of the shipped results; runs and forecasts are of the lab given, which should hold
real ones. Needs chromium and chromedriver.
"""

import io
import sys
from pathlib import Path
from threading import Thread

from PIL import Image
from tests.explorer.browsing import Page, chromium

from daybreak.explorer import Workspace, explorer, listen, serve
from daybreak.explorer.listing import run_page

_FOLDER = Path(__file__).parent / "screenshots"
_COLOURS = 200  # enough for lines and gradients, and a fifth of the bytes


def main(lab: Path) -> None:
    """Serve the page, visit each view, save what is seen."""
    workspace = Workspace(lab, Path("results"))
    at = listen("127.0.0.1", 0)
    Thread(target=serve, args=(explorer(workspace), at), daemon=True).start()
    longest = run_page(workspace.runs(), "outcome = 'emerged' and task = 'single-location'", "-plateau", 1).rows[0][
        "id"
    ]
    views = {
        "theory": "/theory?T=256&pins=512+64+1+0.0+tied",
        "staircase": "/staircase",
        "laws": "/laws?source=emergence/fig2-left/laptop/plateaus&where=T+=+4096&x=d&colour=B&law=C+*+d**a+*+B**c",
        "runs": "/runs?sort=-plateau",
        "forecast": f"/forecast?run={longest}&share=45",
        "claims": "/claims",
    }
    _FOLDER.mkdir(exist_ok=True)
    with chromium() as browser:
        page = Page(browser, f"http://127.0.0.1:{at.getsockname()[1]}")
        for theme, width, height in (
            ("light", 1280, 800),
            ("dark", 1280, 800),
            ("light", 390, 844),
            ("dark", 390, 844),
        ):
            page.resize(width, height)
            page.prefer(theme)
            for name, address in views.items():
                page.open(address)
                _save(browser.get_screenshot_as_png(), f"{name}-{theme}-{'desk' if width > 600 else 'phone'}")


def _save(content: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(content)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    picture.save(_FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
