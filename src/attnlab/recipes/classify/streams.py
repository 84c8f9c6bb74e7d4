"""What a classifier trains on at each step: labelled texts, and masked unlabelled text."""

from collections.abc import Sequence

from attnlab.data.epochs import Epochs, rows_a_batch
from attnlab.data.masking import Masked, MaskedRows, block_rows, line_rows, mask_tokens
from attnlab.data.text_batches import TextRow
from attnlab.data.wordpiece import WordPiece
from attnlab.randomness import rng
from attnlab.recipes.classify.settings import ClassifySettings, MaskedSettings


def labelled_stream(rows: Sequence[TextRow], settings: ClassifySettings) -> Epochs[TextRow]:
    """Return the labelled texts by step."""
    return _epochs(rows, settings, purpose="order")


def masked_stream(lines: Sequence[str], words: WordPiece, settings: ClassifySettings) -> MaskedRows:
    """Return the unlabelled text by step, with other tokens masked every time."""
    masked, seed = settings.masked, settings.training.seed
    rows = [
        TextRow(f"unlabelled row {i}", tokens, [0] * len(tokens), [])
        for i, tokens in enumerate(unlabelled_rows(lines, words, masked), 1)
    ]

    def mask(drawn: list[Sequence[int]], step: int) -> Masked:
        return mask_tokens(
            drawn,
            rng(seed, "masking", step),
            share=masked.share,
            mask_id=words.mask,
            vocab_size=len(words),
            special_ids=words.special_ids,
        )

    return MaskedRows(_epochs(rows, settings, purpose="order of unlabelled text"), mask)


def unlabelled_rows(
    lines: Sequence[str], words: WordPiece, settings: MaskedSettings
) -> list[list[int]]:
    """Encode unlabelled text, one row per line or in whole blocks."""
    encoded = [words.encode(line) for line in lines]
    make = line_rows if settings.line_by_line else block_rows
    return make(encoded, block=settings.block, cls=words.cls, sep=words.sep)


def _epochs(
    rows: Sequence[TextRow], settings: ClassifySettings, *, purpose: str
) -> Epochs[TextRow]:
    size, seed = rows_a_batch(settings.batch_size), settings.training.seed
    return Epochs(lambda _: rows, size=size, seed=seed, purpose=purpose)
