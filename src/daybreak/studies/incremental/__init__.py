"""Paper B: Yüksel, Alvarez Lucendo, Flammarion (2026), Incremental learning of sparse attention patterns in transformers."""
