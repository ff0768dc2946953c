"""One probe of a model: the probe batch goes through it, every map is reduced to numbers at once, and none is kept."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, final

import numpy as np
import torch
from torch.nn import functional

from daybreak.errors import RequestError, refuse
from daybreak.watch import attention as maps
from daybreak.watch._unchanged import unwrapped
from daybreak.watch.batch import ProbeBatch, repeated_tokens
from daybreak.watch.kinds import lens, transformers
from daybreak.watch.probes import Probe, reads

Warn = Callable[[str], None]
"""Takes a sentence about something that is missing; says it once."""


class Inputs(NamedTuple):
    """Where the probe batch comes from; None where it is found out from the model."""

    vocabulary: int | Iterable[int] | None = None  # number of ids, or those to draw from
    context: int | None = None
    L: int = 50
    sequences: int = 4


@final
class Measurement:
    """The probes of a `Watch`. The probe batch is made at the first probe, when the model is where it trains."""

    def __init__(
        self,
        probes: Mapping[str, Probe],
        inputs: Inputs,
        text: Any,
        function: maps.AttentionFunction | None,
        warn: Warn,
    ):
        self._probes = dict(probes)
        self._reads = {name: reads(name, probe) for name, probe in probes.items()}
        self._inputs = inputs
        self._text = None if text is None else _checked_text(text)
        self._function = function
        self._warn = warn
        self._batch: ProbeBatch | None = None

    def values(self, model: Any) -> dict[str, np.ndarray]:
        """What every probe says, by name: (layer, head) for those of attention. What cannot be measured is left out, with a warning."""
        if self._batch is None:
            self._batch, result = self._first(model)
            return result
        return self._values(model, self._batch)

    def _first(self, model: Any) -> tuple[ProbeBatch, dict[str, np.ndarray]]:
        """Make the probe batch, shorter and shorter until the model takes it, if its longest sequence is not known."""
        L = self._inputs.L
        failed: Exception | None = None
        while True:
            try:
                batch = repeated_tokens(
                    _ids(unwrapped(model), self._inputs.vocabulary),
                    L=L,
                    context=self._inputs.context or _context(unwrapped(model)),
                    sequences=self._inputs.sequences,
                )
            except RequestError as error:
                raise failed or error from None
            try:
                return batch, self._values(model, batch)
            except RequestError:
                raise
            except Exception as error:
                failed = failed or error
                L = batch.L // 2

    def _values(self, model: Any, batch: ProbeBatch) -> dict[str, np.ndarray]:
        layers: dict[str, list[np.ndarray]] = {}

        def use(weights: torch.Tensor) -> None:
            array = maps.as_array(weights)
            for name in self._reading("attention"):
                value = self._run(name, array, batch)
                if value is not None:
                    layers.setdefault(name, []).append(np.atleast_1d(value))

        outputs = maps.read(model, batch.tokens, use, function=self._function)
        if self._reading("attention") and not layers:
            self._drop(self._reading("attention"))
            self._warn(
                f"no attention was found in a {type(unwrapped(model)).__name__}: give Watch a function "
                "attention(model, tokens) that returns it."
            )
        values = {name: _stacked(rows) for name, rows in layers.items()}
        return values | self._of_outputs(model, batch, outputs)

    def _of_outputs(self, model: Any, batch: ProbeBatch, outputs: maps.Outputs) -> dict[str, np.ndarray]:
        text = (
            maps.outputs(model, self._text).logits if self._text is not None and self._reading("text_losses") else None
        )
        arrays = {
            "losses": None if outputs.logits is None else _losses(outputs.logits, batch.tokens),
            "text_losses": None if text is None else _losses(text, self._text),
            "hidden": None if outputs.hidden is None else maps.as_array(outputs.hidden),
        }
        found = {}
        for what, array in arrays.items():
            names = self._reading(what)
            if array is None:
                if names:
                    self._drop(names)
                    self._warn(f"{' and '.join(names)} cannot be measured: the model's output has no {_NEEDS[what]}.")
                continue
            found |= {name: self._run(name, array, batch) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def _run(self, name: str, array: np.ndarray, batch: ProbeBatch) -> np.ndarray | None:
        """The value of one probe; None if it fails, and then it is not tried again."""
        try:
            return np.asarray(self._probes[name](array, batch), np.float64)
        except Exception as error:
            self._drop([name])
            self._warn(f"probe {name!r} failed ({type(error).__name__}: {error}) and is not measured any more.")
            return None

    def _reading(self, what: str) -> list[str]:
        return [name for name in self._probes if self._reads[name] == what]

    def _drop(self, names: list[str]) -> None:
        for name in names:
            self._probes.pop(name, None)


_NEEDS = {"losses": "logits", "text_losses": "logits for the text", "hidden": "logits of a linear layer"}


def _losses(logits: torch.Tensor, tokens: Any) -> np.ndarray:
    """The loss at each position but the last, (batch, length − 1)."""
    target = torch.as_tensor(tokens, dtype=torch.long, device=logits.device)
    return maps.as_array(
        functional.cross_entropy(logits[:, :-1].transpose(1, 2).float(), target[:, 1:], reduction="none")
    )


def _stacked(rows: list[np.ndarray]) -> np.ndarray:
    """(layer, head), NaN for heads that a layer does not have."""
    table = np.full((len(rows), max(row.size for row in rows)), np.nan)
    for place, row in zip(table, rows, strict=True):
        place[: row.size] = row
    return table


def _checked_text(text: Any) -> np.ndarray:
    ids = text.detach().cpu().numpy() if torch.is_tensor(text) else np.asarray(text)
    refuse("text", ids.shape, ids.ndim != 2 or ids.shape[1] < 2, "give ids of shape (batch, length)")
    return ids


def _ids(model: torch.nn.Module, vocabulary: int | Iterable[int] | None) -> Iterable[int]:
    """Ids to draw from, without those that stand for something else than text."""
    if vocabulary is not None and not isinstance(vocabulary, int):
        return vocabulary
    special = transformers.special(model) if transformers.fits(model) else set()
    return (one for one in range(vocabulary or _vocabulary(model)) if one not in special)


def _vocabulary(model: torch.nn.Module) -> int:
    """The number of ids: by the configuration, by the width of the output, or by the largest embedding."""
    if transformers.fits(model):
        return model.config.get_text_config().vocab_size  # pyright: ignore
    if lens.fits(model):
        return model.cfg.d_vocab  # pyright: ignore
    logits = maps.outputs(model, np.zeros((1, 2), np.int64)).logits
    if logits is not None:
        return logits.shape[-1]
    tables = [part.num_embeddings for part in model.modules() if isinstance(part, torch.nn.Embedding)]
    if not tables:
        raise RequestError("the number of token ids of the model is not known: give Watch vocabulary=…")
    return max(tables)


def _context(model: torch.nn.Module) -> int | None:
    kind = maps.kind_of(model)
    return kind.context(model) if hasattr(kind, "context") else None
