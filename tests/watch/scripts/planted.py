"""Planted models: attention set by hand, and random attention. Prints what the probes say."""

import json

import torch

from daybreak.watch.measurement import Inputs, Measurement
from daybreak.watch.probes import DEFAULT
from tests.watch.scripts.models import Language, Planted

torch.manual_seed(0)
result = {}
for name, model in {
    "induction": Planted(("previous", "induction")),
    "previous": Planted(("previous", "previous")),
    "random": Language("fused", vocabulary=200, context=128, width=32, heads=4),
}.items():
    said: list[str] = []
    vocabulary = 60 if name != "random" else None
    values = Measurement(DEFAULT, Inputs(vocabulary), None, None, said.append).values(model)
    result[name] = {key: value.tolist() for key, value in values.items()} | {"said": said}
print(json.dumps(result))
