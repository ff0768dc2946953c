"""How attention is read out of a kind of model: one file per kind.

Each has `fits(model)` and a context manager `reading(model, use)`: while it is open, a forward pass hands the attention of every
layer to `use`, in order, as (batch, head, query, key). Nothing else changes what the model computes.
"""
