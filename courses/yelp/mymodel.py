"""The three models of the assignment, as its training code calls them.

    model = BertForSequenceClassification.from_pretrained("models/tinybert", num_labels=5)
    loss, logits = model(input_ids, attention_mask, token_type_ids, labels)

A label of -100 does not count. The arithmetic is that of ``attnlab.models.bert``, in plain PyTorch.
"""

from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.assets.models import find_model
from attnlab.models import bert
from attnlab.models.bert_format import Pretrained, load_pretrained, read_bert, write_bert
from attnlab.models.sizes import BertSize

IGNORED = -100


class _Model(nn.Module):
    """What the three have in common: how they are read and written."""

    net: nn.Module
    pretrained: Pretrained | None = None

    @classmethod
    def from_pretrained(cls, name: str, num_labels: int | None = None) -> Self:
        """Read a folder, or a model on the hub; a head that it lacks is newly initialized."""
        pretrained = read_bert(find_model(name))
        model = cls(pretrained.size, *([] if num_labels is None else [num_labels]))
        load_pretrained(model.net, pretrained)
        model.pretrained = pretrained.released()  # no tensors: the model has its own
        return model

    def save_pretrained(self, folder: str) -> None:
        """Write config.json, vocab.txt and model.safetensors, which from_pretrained reads."""
        assert self.pretrained is not None, "only a model that was read can be written"
        write_bert(self.net, self.pretrained, Path(folder))


class BertForSequenceClassification(_Model):
    """[CLS] → dropout → linear."""

    def __init__(self, config: BertSize, num_labels: int) -> None:
        super().__init__()
        self.net = bert.BertForSequenceClassification(config, num_labels)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of the classes, and before them the loss if labels are given."""
        logits = self.net(input_ids, *_inputs(input_ids, attention_mask, token_type_ids))
        return _with_loss(logits, labels)


class BertForMaskedLanguageModel(_Model):
    """Transform, layer norm, and the table of tokens itself as the last matrix."""

    def __init__(self, config: BertSize) -> None:
        super().__init__()
        self.net = bert.BertForMaskedLanguageModel(config)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of all tokens, and before them the loss if labels are given."""
        types, padding = _inputs(input_ids, attention_mask, token_type_ids)
        scores = self.net.guess(self.net.body(input_ids, types, padding))
        return _with_loss(scores, masked_lm_labels)


class BertForCLSMLM(BertForSequenceClassification):
    """Both heads on one body; ``masked`` is the forward pass of the second."""

    def __init__(self, config: BertSize, num_labels: int) -> None:
        nn.Module.__init__(self)
        self.net = bert.BertForCLSMLM(config, num_labels)

    masked = BertForMaskedLanguageModel.forward


def _inputs(
    input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Return token types and padding; all tokens are of one text and real if nothing is said."""
    types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
    return types, None if attention_mask is None else attention_mask.bool()


def _with_loss(scores: Tensor, labels: Tensor | None) -> tuple[Tensor, ...]:
    """Put the mean loss before the scores, if labels are given."""
    if labels is None:
        return (scores,)
    loss = F.cross_entropy(scores.flatten(0, -2), labels.flatten(), ignore_index=IGNORED)
    return loss, scores
