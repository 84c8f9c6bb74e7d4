"""A small world on the disk, and the words that make a run on it tiny."""

from pathlib import Path

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.world import write_world

TINY = [
    *("--set", "tokenizer.size=300"),
    *("--set", "model={d_model: 12, n_heads: 3, n_layers: 1, ngram_table: {rows: 101}}"),
    *("--set", "training.threads=1"),
    *("--length", "2 steps"),
]
TRAIN, DEV, TEST = "world/birth_places_train.tsv", "world/birth_dev.tsv", "world/birth_test.tsv"
ASKED = ["--dev", DEV, "--test", TEST]
PRETRAIN = ["knowledge", "pretrain", "world/wiki.txt", "--questions", TRAIN, *ASKED, *TINY]


def make_world(folder: Path) -> None:
    """Write biographies of ten people, with questions about six, two and two of them."""
    write_world(WorldSettings(people=10, biographies=2, unwritten=0), folder / "world")


def everything(folder: Path) -> dict[str, bytes | None]:
    """Return all files and folders below one, with what they hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
