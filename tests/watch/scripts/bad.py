"""Everything that may go wrong while somebody trains: prints whether training came to its end, and what was said."""

import json
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from daybreak.lab import ObservedRun
from daybreak.watch import Watch
from daybreak.watch.probes import induction
from tests.watch.scripts.models import Language, train

FOLDER = Path(sys.argv[1])
INDUCTION: Any = {"curve": "induction", "level": 0.3, "direction": "up"}


def fails(*arguments: Any) -> Any:
    raise ValueError("no such thing")


def failing(attention: Any, batch: Any) -> Any:
    raise ValueError("no such thing")


def watched(model: Any, *, lab: Any = FOLDER / "lab", loss: Any = None, **options: Any) -> dict[str, Any]:
    """Train 25 steps; NaN losses from step 10 on if `loss` is NaN."""
    torch.manual_seed(0)
    steps: list[int] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        watch = Watch(model, lab, "bad", every=5, **options)

        def after(step: int, own: torch.Tensor) -> None:
            steps.append(step)
            watch.step(step, loss=own if loss is None or step < 10 else own * loss)

        train(model, 25, after)
        answer = str(watch.forecast())
        watch.close()
    ours = [str(one.message) for one in said if str(one.message).startswith("Daybreak")]
    return {"steps": len(steps), "said": ours, "id": watch.id, "forecast": answer, "curves": watch._record.names()}


class Broken(Language):
    """Its weights are not finite."""

    def __init__(self):
        super().__init__()
        torch.nn.init.constant_(self.read_out.weight, float("nan"))
        torch.nn.init.constant_(self.layers[0].qkv.weight, float("nan"))  # pyright: ignore


def refused(**options: Any) -> str:
    """Wrong arguments of Watch itself: before training, as an error."""
    try:
        Watch(Language(), FOLDER / "lab", **options)
    except ValueError as error:
        return str(error)
    return ""


(FOLDER / "other").mkdir()
(FOLDER / "other" / "thesis.txt").write_text("mine")
result: dict[str, Any] = {
    "none": watched(Language("none")),
    "flash": watched(Language("flash")),
    "short": watched(Language("fused", context=40)),
    "shortest": watched(Language("fused", context=64), context=6),
    "three": watched(Language("fused", vocabulary=3)),
    "nan": watched(Language("fused"), loss=float("nan")),
    "broken": watched(Broken()),
    "probe": watched(Language("fused"), probes={"induction": induction, "mine": failing}),
    "log": watched(Language("fused"), log=fails),
    "attention": watched(Language("fused"), attention=fails),
    "no_lab": watched(Language("fused"), lab=FOLDER / "other"),
    "nowhere": watched(Language("fused"), lab=None),
    "setting": watched(Language("fused"), settings={"a list": [1]}),
}
for seed, step in enumerate((400, 440)):  # finished runs of the lab
    before = ObservedRun.begin(FOLDER / "lab", "before", {"batch": 8, "seed": seed}, **INDUCTION)
    before.extend(np.array([0, step]), {"induction": np.array([[0.0], [0.3]], np.float32)})
    before.finish()
third = {"batch": 8, "seed": 2}
result["seeds"] = watched(Language("fused"), settings=third)
result["own"] = watched(Language("fused"), settings=third, prior=(900.0, 0.1))
result["no_law"] = watched(Language("fused"), settings=third, law="none")
result["wrong_law"] = watched(Language("fused"), settings=third, law="C * width**a")
logged: list[Any] = []
emerged: list[float] = []
result["calls"] = watched(
    Language("fused"), level=0.001, log=lambda values, step: logged.append([step, values]), on_emergence=emerged.append
) | {"logged": logged, "emerged": emerged}
result["refused"] = {
    "share": refused(share=0.0),
    "curve": refused(curve="accuracy"),
    "level": refused(curve="entropy"),
    "probes": refused(probes={"induction": 3}),
    "text": refused(text=[1, 2]),
}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (800, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
full = watched(Language("fused"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(result | {"full": full}))
