"""Paper A: Zucchet, D'Angelo, Lampinen, Chan (2025), The emergence of sparse attention, arXiv 2505.17863."""

from daybreak.studies.emergence import (
    best_repetition,
    fig1a,
    fig1b,
    fig1c,
    fig2_left,
    fig2_right,
    fig3,
    fig3_right,
    fig4,
    fig5,
    fig6,
    fig7,
    fig8,
    fig9,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    placement,
    precision,
    schedules,
    sensitivity,
    two_circuits,
)

_FIGURES = (
    *(fig1a, fig1b, fig1c, fig2_left, fig2_right, fig3, fig3_right, fig4, fig5, fig6, fig7, fig8, fig9, fig10),
    *(fig11, fig12, fig13, fig14, fig15, fig16, fig17),
    best_repetition,
    schedules,
    placement,
    two_circuits,
    sensitivity,
    precision,
)
STUDIES = tuple(module.STUDY for module in _FIGURES)
