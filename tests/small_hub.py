"""Random models of transformers with two layers, and tokenizers trained on the spot."""

from functools import partial
from pathlib import Path
from typing import Any

from random_encoders import TOKENIZERS as MAKERS
from random_encoders import write_encoder

TEXTS = [
    "the food was lovely and we came back again",
    "awful service, bland food; we never came back",
    "a superb place: fine food, fine service",
    "was it fine? it was not awful, and not superb",
]
SIZES: dict[str, dict[str, Any]] = {
    "roberta": {
        "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 20, "max_position_embeddings": 34, "type_vocab_size": 1,
    },
    "distilbert": {
        "dim": 12, "n_layers": 2, "n_heads": 3, "hidden_dim": 20, "max_position_embeddings": 32,
    },
    "t5": {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_kv": 4, "d_ff": 20},
    "electra": {
        "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 20, "max_position_embeddings": 32, "embedding_size": 12,
    },
}  # fmt: skip


DROPOUT = {
    "roberta": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
    "electra": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
    "distilbert": ("dropout", "attention_dropout", "seq_classif_dropout"),
    "t5": ("dropout_rate",),
}
TOKENIZERS = {
    kind: partial(make, TEXTS, 60 if kind == "t5" else 90) for kind, make in MAKERS.items()
}


def write_small_hub(folder: Path, kind: str, *, dropout: float = 0.0, **changes: Any) -> Path:
    """Write a body without a classifier and its tokenizer, as transformers does."""
    sizes = SIZES[kind] | dict.fromkeys(DROPOUT[kind], dropout) | changes
    return write_encoder(folder, kind, TOKENIZERS[kind](), **sizes)
