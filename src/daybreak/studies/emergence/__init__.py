"""Paper A: Zucchet, D'Angelo, Lampinen, Chan (2025), The emergence of sparse attention, arXiv 2505.17863."""
