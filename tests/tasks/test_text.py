"""Text against planted ones: every token of the text occurs once, so each token of a sequence tells where it is from."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.models import Transformer
from daybreak.tasks import Text, TextWorld, corpus
from daybreak.training import Run, Schedule

COUNT = 3000
NAME, SIZE = corpus.add(np.arange(COUNT))
N = 4000
WORLD = TextWorld(jnp.zeros(16, int))


def _text(**settings) -> Text:
    return Text(**{"text": NAME, "vocabulary": SIZE, "T": 20} | settings)


def _sequences(draw, task: Text, n: int = N) -> np.ndarray:
    """Sequences of T + 1 tokens, in one world."""
    _, (inputs, target, _) = draw(task, n, one_world=True)
    assert (inputs[:, 1:] == target[:, :-1]).all()
    return np.concatenate([inputs, target[:, -1:]], axis=1)


def _near(count: int, probability: float) -> bool:
    """Whether a count of N is within five standard errors."""
    return abs(count - N * probability) <= 5 * np.sqrt(N * probability * (1 - probability)) + 1e-9


def test_no_token_of_the_held_out_part_is_ever_trained_on(draw) -> None:
    """Whatever repeats: training uses the first nine tenths of each of ten parts, the test the rest, and each all of it."""
    train, test = (
        {*np.unique(_sequences(draw, task, 20_000)).tolist()}
        for task in (_text(q=0.5, p=0.5), _text(q=0.5, p=0.5).clean())
    )
    held = {i for i in range(COUNT) if i % 300 >= 270}
    assert test == held
    assert train == {*range(COUNT)} - held


def test_the_split_of_a_short_text_has_fewer_parts_and_is_still_one() -> None:
    for count in (210, 500, 3000, 10_007):
        name, size = corpus.add(np.arange(count))
        task = Text(name, size, T=20)
        places = []
        for split in (task.split, task.clean().split):
            starts = split.first + split.stride * np.arange(split.parts)
            assert split.length > task.T
            places.append({i for start in starts.tolist() for i in range(start, start + split.length)})
        assert not places[0] & places[1]
        assert len(places[0] | places[1]) > count - split.parts
        assert max(places[0] | places[1]) < count


def test_plain_sequences_are_the_text_itself_from_everywhere(draw) -> None:
    sequences = _sequences(draw, _text())
    assert (np.diff(sequences, axis=1) == 1).all()
    starts = np.bincount(sequences[:, 0] // 300, minlength=10)
    assert all(_near(count, 1 / 10) for count in starts)


@pytest.mark.parametrize(("passage", "copies", "distance"), [(None, 2, None), (4, 3, None), (5, 2, 11), (7, 3, 7)])
def test_shares_distances_and_copies_are_as_set(draw, passage, copies, distance) -> None:
    task = _text(q=0.3, passage=passage, copies=copies, distance=distance)
    sequences = _sequences(draw, task)
    repeats = np.array([len(np.unique(x)) < x.size for x in sequences])
    assert _near(repeats.sum(), 0.3)
    length = 5 if passage is None else passage
    distances, begins = [], []
    for sequence in sequences[repeats]:
        tokens, first, counts = np.unique(sequence, return_index=True, return_counts=True)
        assert {*counts.tolist()} == {1, copies} if copies * length < 21 else {copies}
        again = np.sort(tokens[counts == copies])
        assert again.size == length
        assert (np.diff(again) == 1).all()  # one passage of the text
        places = np.flatnonzero(sequence == again[0])
        assert len({*np.diff(places).tolist()}) == 1
        distances.append(int(places[1] - places[0]))
        begins.append(int(first[counts == copies].min()))
        for place in places:
            assert (sequence[place : place + length] == again).all()
    allowed = [distance] if distance else [*range(length, (21 - length) // (copies - 1) + 1)]
    found, counts = np.unique(distances, return_counts=True)
    assert found.tolist() == allowed
    expected = len(distances) / len(allowed)
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()
    if distance == 11:  # the passage begins at each place that leaves space for both, equally often
        assert {*begins} == {*range(21 - 11 - 5 + 1)}


def test_the_relevant_position_is_the_one_after_each_earlier_copy_of_the_token(draw) -> None:
    task = _text(q=1.0, passage=5, copies=3)
    _, (inputs, target, relevant) = draw(task, 200, one_world=True)
    for tokens, answers, marks in zip(inputs, target, relevant, strict=True):
        expected = np.zeros_like(marks)
        for i in range(task.T):
            before = [j for j in np.flatnonzero(tokens[:i] == tokens[i]) if tokens[j + 1] == answers[i]]
            expected[i, [j + 1 for j in before]] = True
        assert (marks == expected).all()


def test_a_share_p_of_the_sequences_comes_from_a_small_set(draw) -> None:
    world, _ = draw(_text(set_size=3), 1, one_world=True)
    assert world.starts.shape == (3,)
    sequences = _sequences(draw, _text(p=0.4, set_size=3))
    from_set = np.isin(sequences[:, 0], world.starts)
    by_chance = 3 / (10 * (270 - 20))
    assert _near(from_set.sum(), 0.4 + 0.6 * by_chance)
    each = np.bincount(np.searchsorted(np.sort(world.starts), sequences[from_set, 0]), minlength=3)
    assert (np.abs(each - from_set.sum() / 3) < 5 * np.sqrt(N * 0.4 / 3)).all()
    _, alone = np.unique(_sequences(draw, _text(q=0.5, p=0.4, set_size=3))[:, 0], return_counts=True)
    assert np.sort(alone)[-3:].min() > N * 0.4 / 3 * 0.7  # repetition of both kinds at once


def test_the_probe_is_random_tokens_that_repeat() -> None:
    task = _text(T=20, probe_length=7)
    batch = jax.vmap(task.probe, (0, None))(jax.random.split(jax.random.key(0), 50), WORLD)
    for tokens, target, relevant in zip(*map(np.asarray, batch), strict=True):
        assert (tokens[7:] == tokens[:-7]).all()
        assert len({*tokens[:7].tolist()}) == 7
        assert np.flatnonzero(relevant.any(axis=1)).tolist() == [*range(7, 14)]
        for i in range(7, 14):
            (to,) = np.flatnonzero(relevant[i])
            assert to == i - (7 - 1)
            assert tokens[to] == target[i]
            assert tokens[to - 1] == tokens[i]
    assert np.unique(np.asarray(batch.inputs)).size > 250


def test_circuits_attend_to_the_previous_and_to_the_same_token() -> None:
    for name, back in {"previous_token": 1, "duplicate_token": 7}.items():
        rows, targets = _text(probe_length=7).circuits()[name]
        assert rows == tuple(range(7, 14))
        assert np.argwhere(targets).tolist() == [[i, row - back] for i, row in enumerate(rows)]


def test_scores_are_those_of_planted_outputs() -> None:
    """A model that is right at late positions only; and one that is right in the second copy only."""
    task = _text(T=32, early=4, late=20, probe_length=8)
    example = task.probe(jax.random.key(0), WORLD)
    right, at = 50 * jax.nn.one_hot(example.target, SIZE), jnp.arange(32)
    late = task.scores(WORLD, jnp.where((at >= 20)[:, None], right, 0.0), example)
    assert late["in_context_score"] == pytest.approx(-np.log(SIZE), rel=1e-5)
    for first, last, loss in ((8, 15, 0.0), (0, 8, np.log(SIZE))):
        outputs = jnp.where(((at >= first) & (at < last))[:, None], right, 0.0)
        assert task.probe_scores(outputs, example)["second_copy_loss"] == pytest.approx(loss, abs=1e-5)


def test_one_array_serves_all_tasks_and_no_task_is_copied() -> None:
    first, second = _text(), dataclasses.replace(_text(q=0.5), T=16)
    assert first.corpus is second.corpus
    assert all(np.size(x) == 1 for x in jax.tree.leaves((first, second)))


def test_a_run_is_never_trained_on_held_out_text_nor_with_a_look_ahead() -> None:
    model = Transformer(layers=1, heads=1, width=8, head_width=4, mlp=0, causal=True)
    Run(_text(), model)
    with pytest.raises(RequestError, match="no run may be trained on the held-out part"):
        Run(_text().clean(), model)
    with pytest.raises(RequestError, match="each answer is the next input"):
        Run(_text(), dataclasses.replace(model, causal=False))


def test_schedules_know_the_names_of_the_repetition() -> None:
    switch = Schedule(name="switch", switch_at=3)
    switch.check(_text(q=0.1))
    switch.check(_text(p=0.1))
    with pytest.raises(RequestError, match="'switch' is not allowed at q = 0, p = 0: the task has no repetition"):
        switch.check(_text())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"T": 3}, "T = 3 is not allowed: the context length must be at least 4"),
        ({"T": 300}, "it has 3,000 tokens, and sequences of T = 300 need 3,010"),
        ({"q": 1.1}, "q = 1.1 is not allowed: the share of sequences that repeat must lie in"),
        ({"p": 1.0}, "p = 1 is not allowed"),
        ({"copies": 1}, "copies = 1 is not allowed: the number of occurrences must be at least 2"),
        ({"copies": 11}, "copies = 11 is not allowed: the number of occurrences must be at most 10"),
        ({"passage": 1}, "passage = 1 is not allowed"),
        ({"passage": 11}, "2 occurrences of it must fit into 21 tokens, so it must be at most 10"),
        (
            {"passage": 6, "distance": 5},
            "distance = 5 is not allowed: the distance of two occurrences must be at least 6",
        ),
        ({"passage": 6, "distance": 16}, "so it must be at most 15"),
        ({"probe_length": 11}, "probe_length = 11 is not allowed: the length of the probe must be at most 10"),
        ({"early": 12, "late": 11}, "late = 11 is not allowed: the early position is 12"),
        ({"late": 20}, "late = 20 is not allowed: the position must be at most 19"),
        ({"set_size": 0}, "set_size = 0 is not allowed"),
        ({"vocabulary": 70_000}, "vocabulary = 70000 is not allowed"),
        ({"text": "classics", "vocabulary": 50}, "that of 'classics' has 100 to 1,000 tokens"),
        ({"text": 3}, "text = 3 is not allowed"),
    ],
)
def test_bad_settings_are_refused(settings, sentence, as_a_user) -> None:
    with pytest.raises(RequestError) as caught:
        _text(**settings)
    assert sentence in str(caught.value)
