"""What a training step of a Transformer requires: floating-point operations of its matrix products, nothing else.

A product of (n, k) by (k, m) takes 2nkm operations. The backward pass takes twice as many, once for each factor, so three times in
all. The first product of a model needs no gradient of its input: two times in all. Per sequence, with n positions, r of them
read, width w, h heads of total width i, MLP m, f input features and o outputs:

    embedding   2 · 2nfw                         (none for tokens, which are looked up)
    each block  3 · (4qwi + min(4nwi + 4si, 4qwi + 4shw) + 4qwm)
    read-out    3 · 2rwo

where q is the number of rows that a block must compute: n for all blocks but the last, r for the last. s is the number of pairs of a
row and a position that it may attend to: qn, or about half of it if causal. The first argument of the minimum makes keys and values
of every position, the second brings queries to the context. Softmax, norms, activations, sampling and the optimizer are
left out. `tests/benchmarks/test_flops.py` compares the sum with what XLA counts.
"""

from daybreak.models import Transformer
from daybreak.training import Run


def required(run: Run) -> int:
    """Operations of one training step of a Transformer, its whole batch."""
    model, interface = run.model, run.interface
    assert isinstance(model, Transformer)  # noqa: S101
    n, w, inside = interface.length, model.width, model.heads * model.head_width
    embedding = 0 if interface.features is None else 2 * n * interface.features * w
    blocks = 0
    for layer in range(model.layers):
        rows = interface.reads if layer == model.layers - 1 else range(n)
        q = len(rows)
        seen = sum(row + 1 for row in rows) if model.causal else q * n
        make_keys = 4 * n * w * inside + 4 * seen * inside
        bring_queries = 4 * q * w * inside + 4 * seen * model.heads * w
        blocks += 4 * q * w * inside + min(make_keys, bring_queries) + 4 * q * w * model.mlp
    readout = 2 * len(interface.reads) * w * interface.outputs
    return run.batch * (2 * embedding + 3 * (blocks + readout))
