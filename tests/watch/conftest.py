"""Scripts are run by tests, in processes of their own, and not imported."""

collect_ignore = ["scripts"]
