"""Text: predict the next token of natural language, in which passages may repeat."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from daybreak._check import as_float, as_int, check_bool, check_p, check_whole, is_plain
from daybreak.errors import refuse
from daybreak.interface import Interface
from daybreak.tasks._draw import below, uniform
from daybreak.tasks._task import Circuit, Example, Guess, Task, cross_entropy, fraction_correct
from daybreak.tasks.corpus import FEWEST, SHIPPED, Corpus, Size, corpus, file_of, name_of, size

_PARTS = 10  # the text is cut into as many equal parts, and the last tenth of each is held out
_MOST_TOKENS = 65_536  # tokens are stored as 16 bits
_LONGEST = 1_000_000


class TextWorld(NamedTuple):
    """What stays the same during a run on text."""

    starts: Int[Array, " set_size"]  # where the sequences of the fixed set begin


class Split(NamedTuple):
    """Where sequences of one kind, training or held-out, may begin: in `parts` pieces of equal size."""

    parts: int
    first: int  # where the first piece begins
    stride: int  # from one piece to the next
    length: int  # tokens of a piece


@final
class Text(Task[TextWorld]):
    """Predict each next token of a text. A share q of the sequences repeats a passage within the context.

    The clean task is plain text that is held out: no run is trained on any token of it. The text is cut into ten equal parts (a
    short one into fewer), and the last tenth of each is held out.

    Attention is read on sequences of random tokens that repeat: the relevant position is the one after the last occurrence of the
    current token, so attention to it is the induction score (Olsson et al. 2022).

    Example:
        >>> task = Text(T=16, q=0.5)
        >>> example = task.sample(jax.random.key(1), task.world(jax.random.key(0)))
        >>> example.inputs.shape, example.target.shape
        ((16,), (16,))
    """

    # A text file of your own (UTF-8), or 'classics': Shakespeare and the King James Bible. A run stores its digest, not its path.
    text: str = eqx.field(static=True, converter=name_of, default="classics")
    # Different tokens of the text, at most; of 'classics' 100 to 1000.
    vocabulary: int = eqx.field(static=True, converter=as_int, default=1000)
    T: int = eqx.field(static=True, converter=as_int, default=256)  # Context length, in tokens.
    # Share of the sequences that repeat a passage in the context.
    q: float = eqx.field(converter=as_float, default=0.0)
    p: float = eqx.field(converter=as_float, default=0.0)  # Probability that a sequence is one of a small fixed set.
    # Tokens of the repeated passage; None: a quarter of the context.
    passage: int | None = eqx.field(static=True, converter=as_int, default=None)
    copies: int = eqx.field(static=True, converter=as_int, default=2)  # Occurrences of the passage, at equal distances.
    # Tokens from the start of one occurrence to the next; None: new for each sequence, all that fit are equally likely.
    distance: int | None = eqx.field(static=True, converter=as_int, default=None)
    set_size: int = eqx.field(static=True, converter=as_int, default=16)  # Sequences in the fixed set.
    # Different tokens of the probe before they repeat; None: half of the context, at most 64.
    probe_length: int | None = eqx.field(static=True, converter=as_int, default=None)
    # Position of the early loss of the in-context-learning score; None: a tenth of the context.
    early: int | None = eqx.field(static=True, converter=as_int, default=None)
    # Position of the late one; None: the last that fits.
    late: int | None = eqx.field(static=True, converter=as_int, default=None)
    # Whether sequences come from the held-out part. Only `clean` sets it: no run is trained on it.
    held_out: bool = eqx.field(static=True, default=False, metadata={"later": True})

    def __check_init__(self):
        refuse("text", self.text, not isinstance(self.text, str), "it must be a file or a name")
        check_whole("vocabulary", self.vocabulary, 2, "the number of tokens", _MOST_TOKENS)
        if (fixed := SHIPPED.get(self.text)) is not None:
            why = f"that of {self.text!r} has {FEWEST} to {fixed:,} tokens; it can be larger for a file of your own, with --task.text"
            refuse("vocabulary", self.vocabulary, not FEWEST <= self.vocabulary <= fixed, why)
        check_whole("T", self.T, 4, "the context length", _LONGEST)
        check_whole("copies", self.copies, 2, "the number of occurrences", (self.T + 1) // 2)
        check_whole("set_size", self.set_size, 1, "the size of the fixed set", _LONGEST)
        check_bool("held_out", self.held_out)
        check_p(self.p)
        if is_plain("q", self.q):
            refuse("q", self.q, not 0 <= self.q <= 1, "the share of sequences that repeat must lie in [0, 1]")
        self._check_passage()
        self._check_probes()
        if (known := size(self.text, self.vocabulary)) is not None:  # a run that is only read does not need its text
            self._check_text(known)

    def _check_passage(self) -> None:
        length = self.T + 1
        if self.passage is not None:
            check_whole("passage", self.passage, 2, "the repeated passage")
        why = f"{self.copies} occurrences of it must fit into {length} tokens, so it must be at most {length // self.copies}"
        refuse("passage", self._passage, self.copies * self._passage > length, why)
        if self.distance is not None:
            check_whole("distance", self.distance, self._passage, "the distance of two occurrences")
            most = self._farthest
            why = f"{self.copies} occurrences must fit into {length} tokens, so it must be at most {most}"
            refuse("distance", self.distance, self.distance > most, why)

    def _check_probes(self) -> None:
        if self.probe_length is not None:
            check_whole("probe_length", self.probe_length, 2, "the length of the probe", self.T // 2)
        why = f"its tokens all differ, so it must be at most {self.vocabulary}"
        refuse("probe_length", self._probe_length, self._probe_length > self.vocabulary, why)
        for name in ("early", "late"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 0, "the position", self.T - self._band)
        why = f"the early position is {self._early}, and the late one must come after it"
        refuse("late", self._late, self._late <= self._early, why)

    def _check_text(self, known: Size) -> None:
        count, least = known.tokens, _PARTS * (self.T + 1)
        tokens = f"{count:,} token{'s' * (count != 1)}"
        why = f"it has {tokens}, and sequences of T = {self.T} need {least:,}; name a longer text, or make T smaller"
        refuse("text", file_of(self.text), count < least, why)
        why = f"the text has only {known.words:,} different tokens; name a text with more of them, or make probe_length smaller"
        refuse("probe_length", self._probe_length, self._probe_length > known.words, why)

    def check_trainable(self) -> None:
        """Refuse to train on the held-out part."""
        refuse("held_out", self.held_out, self.held_out, "no run may be trained on the held-out part of the text")

    @property
    def corpus(self) -> Corpus:
        """The text as tokens: one array for all tasks of this process that are about it."""
        return corpus(self.text, self.vocabulary)

    @property
    def split(self) -> Split:
        """Which part of the text sequences come from."""
        return _split(self.corpus.tokens.size, self.T, self.held_out)

    @property
    def interface(self) -> Interface:
        """All tokens of the context, each of which is followed by the next: it is read everywhere, and must not look ahead."""
        reads = tuple(range(self.T))
        return Interface(length=self.T, tokens=self.vocabulary, outputs=self.vocabulary, reads=reads, causal=True)

    @property
    def repetition(self) -> dict[str, float]:
        """In-context repetition q and cross-sample repetition p."""
        return {"q": 0.0, "p": 0.0}

    @property
    def attention_name(self) -> str:
        """Attention to relevant positions of the probe has a name of its own in the literature."""
        return "induction score"

    def world(self, key: PRNGKeyArray) -> TextWorld:
        """Draw the sequences of the fixed set, from the training part."""
        bits = jax.random.bits(key, (2, self.set_size))
        return TextWorld(self._starts(replace(self, held_out=False).split, bits))

    def _starts(self, split: Split, bits: Array) -> Int[Array, " n"]:
        """Where sequences of T + 1 tokens begin: all places of a split are equally likely."""
        return split.first + split.stride * below(bits[0], split.parts) + below(bits[1], split.length - self.T)

    def sample(self, key: PRNGKeyArray, world: TextWorld) -> Example:
        """Draw a place in the text, and maybe a passage of it that repeats."""
        bits = jax.random.bits(key, (7,))
        chance = uniform(bits)
        fresh = self._starts(self.split, bits[:2, None])[0]
        start = jnp.where(chance[2] < self.p, world.starts[below(bits[3:4], self.set_size)[0]], fresh)
        repeats = chance[4] < self.q
        least, most = self._distances
        distance = least + below(bits[5:6], most - least + 1)[0]
        last = self.T + 1 - (self.copies - 1) * distance - self._passage  # place where the passage can begin
        begin = below(bits[6:7], last[None] + 1)[0]
        at = jnp.arange(self.T + 1)
        inside, source = self._copied(at, begin, distance)
        tokens = jnp.asarray(self.corpus.tokens)[start + jnp.where(inside & repeats, source, at)].astype(jnp.int32)
        rows = inside[:-1] & inside[1:] & (at[:-1] >= begin + distance) & repeats
        back = at[:-1, None] + 1 - at[None, :-1]
        relevant = rows[:, None] & (back > 0) & (back % distance == 0) & (at[None, :-1] > begin)
        return Example(tokens[:-1], tokens[1:], relevant)

    def _copied(self, at: Array, begin: Array, distance: Array) -> tuple[Bool[Array, " n"], Int[Array, " n"]]:
        """Which places belong to an occurrence of the passage, and the place in the first one that each repeats."""
        within = (at - begin) % distance
        inside = (at >= begin) & (within < self._passage) & (at < begin + self.copies * distance)
        return inside, begin + within

    def clean(self) -> "Text":
        """Plain text from the held-out part."""
        return replace(self, q=0.0, p=0.0, held_out=True)

    def loss(self, outputs: Float[Array, "T tokens"], example: Example) -> Float[Array, ""]:
        """Mean cross-entropy of the next tokens."""
        return cross_entropy(outputs, example.target)

    def accuracy(self, outputs: Float[Array, "T tokens"], example: Example) -> Float[Array, ""]:
        """Fraction of next tokens whose logit is the largest."""
        return fraction_correct(outputs, example.target)

    def scores(
        self, world: TextWorld, outputs: Float[Array, "T tokens"], example: Example
    ) -> dict[str, Float[Array, "..."]]:
        """`in_context_score`: late loss minus early loss, below 0 if a longer context helps (Olsson et al. 2022).

        Each is a mean over a few positions from the given one on: one position alone would need sixteen times the examples.
        """
        losses = _losses(outputs, example.target)
        early, late = (jnp.mean(losses[i : i + self._band]) for i in (self._early, self._late))
        return {"in_context_score": late - early}

    def probe(self, key: PRNGKeyArray, world: TextWorld) -> Example:
        """Random tokens that all differ, again and again until the context is full. Only the second copy is scored."""
        L, count = self._probe_length, len(self.corpus.words)
        once = jax.random.permutation(key, count)[:L].astype(jnp.int32)
        tokens = once[jnp.arange(self.T + 1) % L]
        return Example(tokens[:-1], tokens[1:], jnp.asarray(self._after_same))

    def probe_scores(self, outputs: Float[Array, "T tokens"], example: Example) -> dict[str, Float[Array, ""]]:
        """`second_copy_loss`: of the tokens of the second copy, which the first one determines."""
        L = self._probe_length
        return {"second_copy_loss": jnp.mean(_losses(outputs, example.target)[L : 2 * L - 1])}

    def circuits(self) -> dict[str, Circuit]:
        """On the probe: attention to the previous token, which an induction head needs, and to the same token before."""
        L = self._probe_length
        rows = np.arange(L, 2 * L)
        to = np.arange(self.T)[None, :]
        return {
            "previous_token": Circuit(tuple(rows.tolist()), to == rows[:, None] - 1),
            "duplicate_token": Circuit(tuple(rows.tolist()), to == rows[:, None] - L),
        }

    def guess(self) -> Guess:
        """Each token by its frequency in the training part, whatever comes before it."""
        return _guess(self.text, self.vocabulary, self.T)

    def frequencies(self) -> NDArray[np.float64]:
        """How often each token of the vocabulary occurs in the training part; one that does not counts half.

        Example:
            >>> Text().frequencies().shape
            (1000,)
        """
        return _frequencies(self.text, self.vocabulary, self.T)

    @property
    def _after_same(self) -> Bool[np.ndarray, "T T"]:
        """For each row of the probe's second copy, the position after the same token: i − (L − 1)."""
        L, at = self._probe_length, np.arange(self.T)
        rows = (at >= L) & (at < 2 * L)
        return rows[:, None] & (at[:, None] - at[None, :] == L - 1)

    @property
    def _distances(self) -> tuple[int, int]:
        """The smallest and the largest distance of two occurrences of the passage."""
        if self.distance is not None:
            return self.distance, self.distance
        return self._passage, self._farthest

    @property
    def _farthest(self) -> int:
        return (self.T + 1 - self._passage) // (self.copies - 1)

    @property
    def _passage(self) -> int:
        return max(2, min(self.T // 4, (self.T + 1) // self.copies)) if self.passage is None else self.passage

    @property
    def _probe_length(self) -> int:
        return min(self.T // 2, 64, self.vocabulary) if self.probe_length is None else self.probe_length

    @property
    def _band(self) -> int:
        return max(1, self.T // 16)

    @property
    def _early(self) -> int:
        return self.T // 10 if self.early is None else self.early

    @property
    def _late(self) -> int:
        return self.T - self._band if self.late is None else self.late


def _losses(outputs: Float[Array, "T tokens"], target: Int[Array, " T"]) -> Float[Array, " T"]:
    """Cross-entropy at every position."""
    return jax.vmap(cross_entropy)(outputs[:, None], target[:, None])


def _split(count: int, T: int, held_out: bool) -> Split:
    """Equal parts of a text, as many as leave space for a sequence in the last tenth of each, and ten at most."""
    parts = min(_PARTS, count // (_PARTS * (T + 1)))
    part = count // parts
    held = part // _PARTS
    return Split(parts, part - held, part, held) if held_out else Split(parts, 0, part, part - held)


def _pieces(tokens: NDArray[np.uint16], split: Split) -> NDArray[np.uint16]:
    """The tokens of a split, one row for each piece."""
    starts = split.first + split.stride * np.arange(split.parts)
    return np.stack([tokens[i : i + split.length] for i in starts])


@cache
def _frequencies(text: str, vocabulary: int, T: int) -> NDArray[np.float64]:
    tokens = corpus(text, vocabulary).tokens
    counts = np.bincount(_pieces(tokens, _split(tokens.size, T, False)).ravel(), minlength=vocabulary)
    counts = np.maximum(counts, 0.5)
    return counts / counts.sum()


@cache
def _guess(text: str, vocabulary: int, T: int) -> Guess:
    """The score of the frequencies on held-out text, in which the tokens near the ends of a piece are drawn less often."""
    tokens, frequencies = corpus(text, vocabulary).tokens, _frequencies(text, vocabulary, T)
    split = _split(tokens.size, T, True)
    covered = np.convolve(np.ones(split.length - T), np.ones(T)).round()  # sequences in which each token is a target
    targets = _pieces(tokens, split)[:, 1:]
    weights = np.bincount(targets.ravel(), np.tile(covered, split.parts), minlength=vocabulary)
    weights /= weights.sum()
    loss = -float(np.sum(weights * np.log(frequencies)))
    return Guess("tokens by their frequency", loss, float(weights[np.argmax(frequencies)]))
