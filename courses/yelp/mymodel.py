"""The three models of the assignment, as its training code calls them.

    model = BertForSequenceClassification.from_pretrained("models/tinybert", num_labels=5)
    loss, logits = model(input_ids, attention_mask, token_type_ids, labels)

A label of -100 does not count. The arithmetic is that of ``attnlab.models.bert``, in plain PyTorch.
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.assets.models import find_model
from attnlab.models import bert
from attnlab.models.bert_format import Pretrained, load_pretrained, read_bert, write_bert
from attnlab.models.sizes import BertSize

IGNORED = -100


class _Model(nn.Module):
    """What the three have in common: their files, and how a batch comes in."""

    net: nn.Module
    pretrained: Pretrained | None = None

    def save_pretrained(self, folder: str) -> None:
        """Write config.json, vocab.txt and model.safetensors, which from_pretrained reads."""
        assert self.pretrained is not None, "only a model that was read can be written"
        write_bert(self.net, self.pretrained, Path(folder))

    def _fill(self, pretrained: Pretrained) -> None:
        load_pretrained(self.net, pretrained)
        self.pretrained = pretrained.keeping()  # no tensors: the model has its own


class BertForSequenceClassification(_Model):
    """[CLS] → dropout → linear."""

    def __init__(self, config: BertSize, num_labels: int) -> None:
        super().__init__()
        self.net = bert.BertForSequenceClassification(config, num_labels)

    @classmethod
    def from_pretrained(cls, name: str, num_labels: int) -> "BertForSequenceClassification":
        """Read a folder, or a model on the hub; a head that it lacks is newly initialized."""
        pretrained = read_bert(find_model(name))
        model = cls(pretrained.size, num_labels)
        model._fill(pretrained)
        return model

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of the classes, and before them the loss if labels are given."""
        logits = self.net(input_ids, *_inputs(input_ids, attention_mask, token_type_ids))
        return (logits,) if labels is None else (F.cross_entropy(logits, labels), logits)


class BertForMaskedLanguageModel(_Model):
    """Transform, layer norm, and the table of tokens itself as the last matrix."""

    def __init__(self, config: BertSize) -> None:
        super().__init__()
        self.net = bert.BertForMaskedLanguageModel(config)

    @classmethod
    def from_pretrained(cls, name: str) -> "BertForMaskedLanguageModel":
        """Read a folder, or a model on the hub; a head that it lacks is newly initialized."""
        pretrained = read_bert(find_model(name))
        model = cls(pretrained.size)
        model._fill(pretrained)
        return model

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of all tokens, and before them the loss if labels are given."""
        scores = self.net(input_ids, *_inputs(input_ids, attention_mask, token_type_ids))
        return (scores,) if masked_lm_labels is None else (_loss(scores, masked_lm_labels), scores)


class BertForCLSMLM(BertForSequenceClassification):
    """Both heads on one body."""

    def __init__(self, config: BertSize, num_labels: int) -> None:
        nn.Module.__init__(self)
        self.net = bert.BertForCLSMLM(config, num_labels)

    def masked(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of all tokens, and before them the loss if labels are given."""
        types, padding = _inputs(input_ids, attention_mask, token_type_ids)
        scores = self.net.guess(self.net.body(input_ids, types, padding))
        return (scores,) if masked_lm_labels is None else (_loss(scores, masked_lm_labels), scores)


def _inputs(
    input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Return token types and padding; all tokens are of one text and real if nothing is said."""
    types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
    return types, None if attention_mask is None else attention_mask.bool()


def _loss(scores: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
