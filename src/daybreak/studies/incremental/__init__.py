"""Paper B: Yüksel, Alvarez Lucendo, Flammarion (2026), Incremental learning of sparse attention patterns in transformers."""

from daybreak.studies.incremental import (
    early_stopping,
    fig1,
    fig2,
    fig3,
    fig3_minimal,
    fig4_left,
    fig4_right,
    fig5,
    fig10,
    heads_and_features,
    oldest_first,
    one_block,
    repeated_block,
    sgd,
    sgd_sum,
    trained_times,
    transition_times,
    two_layers,
    variants,
    weights,
)

_FIGURES = (fig1, fig2, fig3, fig4_left, fig4_right, fig5, fig10)
_APPENDIX = (oldest_first, weights, two_layers, sgd, sgd_sum)
_BEYOND = (fig3_minimal, transition_times, trained_times, heads_and_features, early_stopping, one_block, repeated_block)
STUDIES = (
    *(module.STUDY for module in _FIGURES),
    *variants.STUDIES,
    *(module.STUDY for module in (*_APPENDIX, *_BEYOND)),
)
