"""For mkdocstrings: docstrings here have `Example:`, as Optax has it; Griffe knows a block of doctests as `Examples:`."""

import re
from typing import Any

from griffe import Extension, Object


class OneExample(Extension):
    """Rename that section while docstrings are read, and part lists from the sentence above them."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called for each thing that was read."""
        if obj.docstring is not None:
            text = re.sub(r"(?m)^(\s*)Example:$", r"\1Examples:", obj.docstring.value)
            obj.docstring.value = re.sub(
                r"(?m)^(?! *- )(.*\S)\n( *- )", r"\1\n\n\2", text
            )  # Python-Markdown wants an empty line
