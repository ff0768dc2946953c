"""Named settings of the two papers and of text, to start a sweep from: `preset = "paper-a-regression"`.

What the papers do not specify (initial scales, which positions attend to which) is chosen here and nowhere else.
"""

from daybreak.models import MinimalAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation, Text
from daybreak.training import Optimizer, Run, Stop

PRESETS: dict[str, Run] = {
    # Paper A, table 1 and §2: loss 0.1 ends the plateau.
    "paper-a-regression": Run(
        task=SingleLocation(T=256, d=64),
        model=Transformer(layers=2, heads=4, width=256, head_width=64, mlp=1024),
        optimizer=Optimizer(name="adam", learning_rate=1e-4),
        stop=Stop(budget=50_000, every=20, level=0.1),
        batch=32,
    ),
    # Paper A, table 1 and §3: accuracy 5 % ends the plateau. Layer norm as in its text.
    "paper-a-recall": Run(
        task=Recall(N=32, V=256),
        model=Transformer(layers=4, heads=4, width=256, head_width=64, mlp=1024, norm="pre", causal=True),
        optimizer=Optimizer(name="adam", learning_rate=1e-4),
        stop=Stop(budget=200_000, every=50, level=0.05),
        batch=32,
    ),
    # Paper B, §2.3: runs spend the whole budget, because several transitions follow each other.
    "paper-b-minimal": Run(
        task=MarkovChain(L=2),
        model=MinimalAttention(heads=3, epsilon=1e-9),
        optimizer=Optimizer(name="adamw", learning_rate=0.08, weight_decay=0.01),
        stop=Stop(budget=2_000, every=10, level=0.0),
        batch=3_000,
    ),
    # Paper B, §2.2 and its appendix.
    "paper-b-full": Run(
        task=MarkovChain(L=4),
        model=Transformer(
            layers=1,
            heads=3,
            width=255,
            head_width=85,
            mlp=64,
            norm="post",
            causal=True,
            positions="learned",
            bias=False,
            weights="xavier",
            ends="orthogonal",
            dropout=0.1,
        ),
        optimizer=Optimizer(name="adamw", learning_rate=3e-3, weight_decay=0.01, clip=1.0),
        stop=Stop(budget=2_000, every=10, level=0.0),
        batch=3_000,
    ),
    # Two attention-only layers, the smallest network with an induction head, on text that repeats (docs/guides/text.md).
    # Distances of 10 to 18 between copies, and a probe that repeats after 32: a head that copies by position is not counted.
    "text-induction": Run(
        task=Text(T=64, q=1.0, passage=10, copies=4),
        model=Transformer(
            layers=2,
            heads=4,
            width=128,
            head_width=32,
            mlp=0,
            norm="pre",
            positions="rotary",
            causal=True,
            embedding_scale=0.1,
        ),
        optimizer=Optimizer(name="adamw", learning_rate=2e-3, weight_decay=0.01, clip=1.0, warmup=100),
        stop=Stop(budget=8_000, every=50, level=0.3, watch="attention"),
        batch=16,
        evaluation=64,
    ),
}
"""Runs by their names in sweep files."""
