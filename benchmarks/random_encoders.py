"""Randomly initialised RoBERTa, DistilBERT and T5, with tokenizers trained on the spot.

python benchmarks/random_encoders.py train.jsonl models   # models/random-roberta and so on
attnlab classify compare train.jsonl --models all-MiniLM-L6-v2,models/random-roberta --lr 1e-4

They have learned nothing, and their names say so in every table: what they score is what an
architecture without pretraining is worth. Needs transformers (`pip install attnlab[hub]`).
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from attnlab.data.labelled_text import read_labelled
from attnlab.data.text_files import read_lines
from attnlab.guard import guarded

KINDS = ("roberta", "distilbert", "t5")
SIZES: dict[str, dict[str, Any]] = {
    "roberta": {
        "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 512, "max_position_embeddings": 514, "type_vocab_size": 1,
    },
    "distilbert": {
        "dim": 128, "n_layers": 2, "n_heads": 2, "hidden_dim": 512,
        "max_position_embeddings": 512,
    },
    "t5": {"d_model": 128, "num_layers": 2, "num_heads": 2, "d_kv": 64, "d_ff": 512},
}  # fmt: skip
"""As large as bert-tiny: two layers of 128."""
FIXED: dict[str, dict[str, Any]] = {
    "roberta": {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2},
    "t5": {"decoder_start_token_id": 0},
}
"""What the tokenizers below give away."""


def bytes_tokenizer(texts: Sequence[str], vocab_size: int) -> Any:
    """Return RoBERTa's kind: byte-level pairs, <s> text </s></s> pair </s>."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=special, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return _wrapped(made, **names, cls_token="<s>", sep_token="</s>", mask_token="<mask>")


def unigram_tokenizer(texts: Sequence[str], vocab_size: int) -> Any:
    """Return T5's kind: a unigram language model of pieces, text </s> pair </s>."""
    special = ["<pad>", "</s>", "<unk>"]
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return _wrapped(made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def pieces_tokenizer(texts: Sequence[str], vocab_size: int) -> Any:
    """Return DistilBERT's kind: WordPiece, [CLS] text [SEP] pair [SEP]."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=special, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    return _wrapped(made, cls_token="[CLS]", sep_token="[SEP]", **names)


def _wrapped(made: Tokenizer, **names: str) -> Any:
    from transformers import PreTrainedTokenizerFast

    inputs = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=inputs, **names)


TOKENIZERS: dict[str, Callable[[Sequence[str], int], Any]] = {
    "roberta": bytes_tokenizer,
    "distilbert": pieces_tokenizer,
    "t5": unigram_tokenizer,
    "electra": pieces_tokenizer,
}


def write_encoder(folder: Path, kind: str, tokenizer: Any, **sizes: Any) -> Path:
    """Write a random body without a classifier, and its tokenizer, as transformers does."""
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    tokenizer.save_pretrained(folder)
    config = AutoConfig.for_model(
        kind, **{"vocab_size": len(tokenizer), **FIXED.get(kind, {}), **sizes}
    )
    AutoModel.from_config(config).save_pretrained(folder)
    return folder


def read_texts(path: Path) -> list[str]:
    """Read the texts of a labelled file, or the lines of any other."""
    if path.suffix not in (".csv", ".tsv", ".jsonl"):
        return read_lines(path)
    examples = read_labelled(path, labelled=False)
    return [text for one in examples for text in (one.text, one.pair) if text]


def main() -> None:
    """Write one folder per kind."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("texts", type=Path, help="what the tokenizers are trained on")
    parser.add_argument("folder", type=Path, help="where the folders of the models go")
    parser.add_argument("--vocab_size", type=int, default=4000, help="tokens of each (4000)")
    given = parser.parse_args()
    texts = read_texts(given.texts)
    for kind in KINDS:
        tokenizer = TOKENIZERS[kind](texts, given.vocab_size)
        print(write_encoder(given.folder / f"random-{kind}", kind, tokenizer, **SIZES[kind]))


if __name__ == "__main__":
    with guarded("random_encoders.py"):
        main()
