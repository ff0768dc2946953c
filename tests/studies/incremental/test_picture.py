"""What pictures of staircases show."""

import numpy as np

from daybreak.studies.incremental._picture import median_seed_first


def test_the_seed_in_front_is_neither_the_best_nor_the_worst() -> None:
    distance = {0: 9.0, 1: 1.0, 2: 5.0, 3: 4.0, 4: 6.0}
    seeds = np.repeat(list(distance), 3)
    table = {"seed": seeds, "kl_1": -seeds, "kl_2": np.array([distance[int(seed)] for seed in seeds])}
    assert [one["seed"][0] for one in median_seed_first(table)] == [2, 0, 1, 3, 4]
