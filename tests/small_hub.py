"""Random models of transformers with two layers, and tokenizers trained on the spot."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

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
    "t5": {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_kv": 4, "d_ff": 20,
           "decoder_start_token_id": 0},
    "electra": {
        "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 20, "max_position_embeddings": 32, "embedding_size": 12,
    },
}  # fmt: skip


def bytes_tokenizer() -> Any:
    """Return RoBERTa's kind: byte-level pairs, <s> text </s></s> pair </s>."""
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=90, special_tokens=special))
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    made_up = {"cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_input_names=["input_ids", "attention_mask"],
        **names,
        **made_up,
    )


def unigram_tokenizer() -> Any:
    """Return T5's kind: a unigram language model of pieces, text </s> pair </s>."""
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "</s>", "<unk>"]
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=special, unk_token="<unk>")
    made.train_from_iterator(TEXTS, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    )


def pieces_tokenizer() -> Any:
    """Return DistilBERT's kind: WordPiece, [CLS] text [SEP] pair [SEP]."""
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        TEXTS, trainers.WordPieceTrainer(vocab_size=90, special_tokens=special)
    )
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "attention_mask"],
        **names,
    )


TOKENIZERS = {
    "roberta": bytes_tokenizer,
    "distilbert": pieces_tokenizer,
    "t5": unigram_tokenizer,
    "electra": pieces_tokenizer,
}


def write_small_hub(folder: Path, kind: str, *, dropout: float = 0.0, **changes: Any) -> Path:
    """Write a body without a classifier and its tokenizer, as transformers does."""
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    tokenizer = TOKENIZERS[kind]()
    tokenizer.save_pretrained(folder)
    names = {"roberta": {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}}
    drop = {
        "roberta": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
        "electra": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
        "distilbert": ("dropout", "attention_dropout", "seq_classif_dropout"),
        "t5": ("dropout_rate",),
    }[kind]
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        **SIZES[kind] | names.get(kind, {}) | dict.fromkeys(drop, dropout) | changes,
    )
    AutoModel.from_config(config).save_pretrained(folder)
    return folder
