"""The language of sweep files: settings, axes, ranges and expressions in, runs out."""
