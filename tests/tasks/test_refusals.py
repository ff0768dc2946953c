"""Bad settings are refused when a task is made, in one sentence that names the field, the value and what is allowed."""

import dataclasses

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.tasks import MarkovChain, Recall, SingleLocation

REFUSED = [
    (SingleLocation, {"T": 1}, "T = 1 ", "at least 2"),
    (SingleLocation, {"T": -5}, "T = -5 ", "at least 2"),
    (SingleLocation, {"T": 8.5}, "T = 8.5 ", "whole number"),
    (SingleLocation, {"T": True}, "T = True ", "whole number"),
    (SingleLocation, {"d": 0}, "d = 0 ", "at least 1"),
    (SingleLocation, {"T": 8, "B": 8}, "B = 8 ", "at most T − 1 = 7"),
    (SingleLocation, {"B": 0}, "B = 0 ", "at least 1"),
    (SingleLocation, {"B": 1.5}, "B = 1.5 ", "whole number"),
    (SingleLocation, {"B": float("nan")}, "B = nan ", "finite"),
    (SingleLocation, {"B": "two"}, "B = 'two' ", "a number"),
    (SingleLocation, {"p": 1}, "p = 1 ", "[0, 1)"),
    (SingleLocation, {"p": -0.1}, "p = -0.1 ", "[0, 1)"),
    (SingleLocation, {"p": float("nan")}, "p = nan ", "finite"),
    (SingleLocation, {"p": np.float32(2)}, "p = 2 ", "[0, 1)"),
    (SingleLocation, {"position": "last"}, "position = 'last' ", "'random' or 'fixed'"),
    (SingleLocation, {"feature": "yes"}, "feature = 'yes' ", "true or false"),
    (SingleLocation, {"feature": False}, "feature = False ", "fix the position"),
    (Recall, {"N": 0}, "N = 0 ", "at least 1"),
    (Recall, {"N": 1, "V": 1}, "V = 1 ", "at least 2"),
    (Recall, {"N": 8, "V": 7}, "V = 7 ", "at least 8"),
    (Recall, {"N": 8, "V": 8, "placement": "bernoulli"}, "V = 8 ", "at least 9"),
    (Recall, {"B": 33}, "B = 33 ", "at most N = 32"),
    (Recall, {"B": 0}, "B = 0 ", "above 0"),
    (Recall, {"B": float("inf")}, "B = inf ", "finite"),
    (Recall, {"B": 1.5, "placement": "exactly"}, "B = 1.5 ", "whole number"),
    (Recall, {"p": 1.0}, "p = 1 ", "[0, 1)"),
    (Recall, {"B": 0.5}, "B = 0.5 ", "at least once"),
    (Recall, {"placement": "often"}, "placement = 'often' ", "'exactly'"),
    (MarkovChain, {"d": 1}, "d = 1 ", "at least 2"),
    (MarkovChain, {"K": 0}, "K = 0 ", "at least 1"),
    (MarkovChain, {"L": 0}, "L = 0 ", "at least 1"),
    (MarkovChain, {"m": 0}, "m = 0 ", "above 0"),
    (MarkovChain, {"m": -1.7}, "m = -1.7 ", "above 0"),
    (MarkovChain, {"m": float("nan")}, "m = nan ", "finite"),
    (MarkovChain, {"beta": 0}, "beta = 0 ", "above 0"),
    (MarkovChain, {"d": 8, "uncorrelated": True}, "d = 8 ", "odd"),
    (MarkovChain, {"d": 5, "uncorrelated": True}, "K = 3 ", "at most 2 blocks"),
    (MarkovChain, {"uncorrelated": 1}, "uncorrelated = 1 ", "true or false"),
    (MarkovChain, {"q": 0.5}, "q = 0.5 ", "longer prefix"),
    (MarkovChain, {"q": 1.5, "prefix": 20}, "q = 1.5 ", "[0, 1]"),
    (MarkovChain, {"repeated": 4}, "repeated = 4 ", "3 blocks"),
    (MarkovChain, {"reversed": 1}, "reversed = 1 ", "true or false"),
    (MarkovChain, {"L": 2, "weights": (0.7, 0.2)}, "weights = (0.7, 0.2) ", "sum to 0.9"),
    (MarkovChain, {"L": 2, "weights": (1.5, -0.5)}, "weights = (1.5, -0.5) ", "at least 0"),
    (MarkovChain, {"L": 2, "weights": (float("nan"), 1)}, "weights = (nan, 1.0) ", "at least 0"),
    (MarkovChain, {"L": 3, "weights": (0.5, 0.5)}, "weights = (0.5, 0.5) ", "L = 3"),
    (MarkovChain, {"weights": 1.0}, "weights = 1 ", "numbers"),
    (MarkovChain, {"stride": 5}, "stride = 5 ", "at most L = 4"),
    (MarkovChain, {"stride": 0}, "stride = 0 ", "at least 1"),
    (MarkovChain, {"prefix": 11}, "prefix = 11 ", "at least 12"),
    (MarkovChain, {"generated": 0}, "generated = 0 ", "at least 1"),
    (MarkovChain, {"train": -1}, "train = -1 ", "at least 0"),
    (MarkovChain, {"validation": -1}, "validation = -1 ", "at least 0"),
]


@pytest.fixture(autouse=True)
def as_users_have_it():
    """Without the type checks of the other tests, which would refuse some values before the task does."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.parametrize(("task", "fields", "named", "allowed"), REFUSED)
def test_refused(task, fields, named, allowed):
    with pytest.raises(RequestError) as caught:
        task(**fields)
    sentence = str(caught.value)
    assert sentence.startswith(named) and allowed in sentence and sentence.endswith(".") and "\n" not in sentence


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0)])
def test_equal_numbers_make_equal_tasks(value):
    assert SingleLocation(T=np.int64(8), B=value) == SingleLocation(T=8, B=2.0)
    assert type(SingleLocation(B=value).B) is float


def test_arrays_and_tracers_pass():
    task = SingleLocation(T=8, d=2)
    assert np.shape(dataclasses.replace(task, B=jnp.array([1.0, 7.0])).B) == (2,)
    assert jax.jit(lambda B: dataclasses.replace(task, B=B).B)(3.0) == 3


def test_truncation_is_limited_to_the_blocks():
    task = MarkovChain(d=2, L=1, generated=1)
    with pytest.raises(RequestError, match=r"n = 4 is not allowed: the chain has 3 blocks"):
        task.truncated(task.world(jax.random.key(0)), jnp.zeros(3, int), 4)
