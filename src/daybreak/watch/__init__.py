"""Training that is not ours: curves from files and trackers, and probes of PyTorch models. Imports neither PyTorch nor JAX by itself."""
