"""What a classifier trains on at each step: labelled texts, and masked unlabelled text."""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.data.epochs import Epochs, Row, rows_per_batch
from attnlab.data.masking import block_rows, line_rows, mask_tokens
from attnlab.data.text_batches import TextRow
from attnlab.data.text_tokenizer import MaskingTokenizer
from attnlab.randomness import rng
from attnlab.recipes.classify.settings import ClassifySettings, MaskedSettings


def labelled_stream(rows: Sequence[Row], settings: ClassifySettings) -> Epochs[Row]:
    """Return the labelled texts, or what a frozen body made of them, by step."""
    size, seed = rows_per_batch(settings.batch_size), settings.training.seed
    return Epochs(lambda _: rows, size=size, seed=seed)


def masked_stream(
    lines: Sequence[str], tokenizer: MaskingTokenizer, settings: ClassifySettings
) -> Epochs[TextRow]:
    """Return the unlabelled text by step, with other tokens masked every time."""
    masked, seed = settings.masked, settings.training.seed
    rows = [
        TextRow(f"unlabelled row {i}", tokens, [0] * len(tokens), [])
        for i, tokens in enumerate(unlabelled_rows(lines, tokenizer, masked), 1)
    ]

    def mask(drawn: list[TextRow], step: int) -> list[TextRow]:
        hidden = mask_tokens(
            [row.tokens for row in drawn],
            rng(seed, "masking", step),
            share=masked.share,
            mask_id=tokenizer.mask,
            vocab_size=len(tokenizer),
            special_ids=tokenizer.special_ids,
        )
        return [
            replace(row, tokens=tokens, targets=targets)
            for row, tokens, targets in zip(drawn, *hidden, strict=True)
        ]

    return Epochs(
        lambda _: rows,
        size=rows_per_batch(settings.batch_size),
        seed=seed,
        purpose="order of unlabelled text",
        prepare=mask,
    )


def unlabelled_rows(
    lines: Sequence[str], tokenizer: MaskingTokenizer, settings: MaskedSettings
) -> list[list[int]]:
    """Encode unlabelled text, one row per line or in whole blocks."""
    encoded = [tokenizer.encode(line) for line in lines]
    make = line_rows if settings.line_by_line else block_rows
    return make(encoded, block=settings.block, cls=tokenizer.cls, sep=tokenizer.sep)
