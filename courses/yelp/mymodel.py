"""The three models of the assignment: heads on a BERT body that is given, in plain PyTorch.

    model = BertForSequenceClassification.from_pretrained("models/tinybert", num_labels=5)
    loss, logits = model(input_ids, attention_mask, token_type_ids, labels)

In ``attention_mask``, 1 is a token and 0 is padding. Without labels, a model returns ``(logits,)``.
With labels, the mean loss comes first; a label of -100 does not count.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Self

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.assets.models import find_model
from attnlab.dropout import Dropout
from attnlab.models.bert import ACTIVATIONS, Bert, initialize
from attnlab.models.bert_format import Pretrained, load_pretrained, read_bert, write_bert
from attnlab.models.sizes import BertSize

IGNORED = -100
PARTS = {"bert": "body", "classifier": "classifier", "mlm_head": "masked"}
"""The modules that the files of a BERT have a name for."""
OWN = "own.safetensors"
"""What a saved model has beyond them."""


class BertModel(Bert):
    """The body: three embeddings, then the layers."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """Return the final hidden vector of every token, (B, T, D).

        With a pooler, that of the first token has gone through it.
        """
        hidden = super().forward(input_ids, *_inputs(input_ids, attention_mask, token_type_ids))
        if self.pooler is None:
            return hidden
        return torch.cat([self.pooler(hidden[:, :1]).tanh(), hidden[:, 1:]], 1)

    # <solution for later>
    def first(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """Return the first vector of ``forward``, (B, D); the last layer computes no other."""
        types, padding = _inputs(input_ids, attention_mask, token_type_ids)
        return self.pool(self.summary(input_ids, types, padding))

    # </solution>


def _inputs(
    input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Return token types and padding; if not given, all tokens are real and of one text."""
    types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
    return types, None if attention_mask is None else attention_mask.bool()


class BertPreTrainedModel(nn.Module):
    """A body, ``self.bert``, and how a model is read and written.

    The files of a BERT know ``bert``, ``classifier`` and ``mlm_head``. You may give a layer any other
    name: it then begins as it is initialized.
    """

    pretrained: Pretrained | None = None

    def __init__(self, config: BertSize, *, pooler: bool = False) -> None:
        super().__init__()
        self.bert = BertModel(config, pooler=pooler)

    @classmethod
    def from_pretrained(
        cls, name: str, num_labels: int | None = None, *, pooler: bool = False
    ) -> Self:
        """Read a folder, or a model on the hub; a head that it lacks is newly initialized."""
        pretrained = read_bert(find_model(name))
        classes = [] if num_labels is None else [num_labels]
        model = cls(pretrained.size, *classes, **({"pooler": True} if pooler else {}))
        initialize(model, pretrained.size)
        load_pretrained(model._parts(), pretrained)
        if (pretrained.folder / OWN).is_file():
            model.load_state_dict(
                safetensors.torch.load_file(pretrained.folder / OWN), strict=False
            )
        model.pretrained = pretrained.released()  # no tensors: the model has its own
        return model

    def save_pretrained(self, folder: str | Path, *, classes: Collection[str] = ()) -> None:
        """Write config.json, vocab.txt and model.safetensors, which from_pretrained reads."""
        assert self.pretrained is not None, "only a model that was read can be written"
        write_bert(self._parts(), self.pretrained, Path(folder), classes=classes)
        own = {
            name: parameter.detach().contiguous()
            for name, parameter in self.named_parameters()
            if name.partition(".")[0] not in PARTS
        }
        if own:
            safetensors.torch.save_file(own, Path(folder) / OWN)

    def _parts(self) -> nn.ModuleDict:
        """Return the modules by the names that the files of a BERT are read and written with."""
        there = dict(self.named_children())
        return nn.ModuleDict({PARTS[name]: there[name] for name in PARTS if name in there})


class BertForSequenceClassification(BertPreTrainedModel):
    """The final vector of [CLS] → dropout → linear."""

    def __init__(self, config: BertSize, num_labels: int, *, pooler: bool = False) -> None:
        super().__init__(config, pooler=pooler)
        # Problem 2. The layers on top of the body. Call the linear layer self.classifier.
        # TODO: Problem 2, mymodel.py: make a dropout of config.dropout and a linear layer from config.d_model to num_labels.
        # <solution>
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(config.d_model, num_labels)
        # </solution>

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of the classes, (B, C), and before them the loss if labels are given."""
        # Problem 2. self.bert returns the final hidden vectors; take that of [CLS], the first token.
        # The loss is the cross-entropy of the scores, without a softmax before it, averaged over the
        # batch.
        # TODO: Problem 2, mymodel.py: write BertForSequenceClassification.forward; see its comment.
        # <solution>
        first = self.bert.first(input_ids, attention_mask, token_type_ids)
        logits = self.classifier(self.dropout(first))
        if labels is None:
            return (logits,)
        return F.cross_entropy(logits, labels, ignore_index=IGNORED), logits
        # </solution>


class MLMHead(nn.Module):
    """Scores every token of the vocabulary; its last matrix is the table of embeddings."""

    def __init__(self, config: BertSize) -> None:
        super().__init__()
        self.transform = nn.Linear(config.d_model, config.d_model)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        """Return the scores, (…, V), from hidden vectors, (…, D), and the table, (V, D)."""
        # Problem 3, 1(a). First transform, activation and norm. A token's score is then the dot
        # product with its embedding, plus its bias.
        # TODO: Problem 3, 1(a), mymodel.py: write MLMHead.forward; see its comment.
        # <solution>
        return F.linear(self.norm(self.activation(self.transform(hidden))), table, self.bias)
        # </solution>


class BertForMaskedLanguageModel(BertPreTrainedModel):
    """Predicts the tokens that are masked."""

    def __init__(self, config: BertSize) -> None:
        super().__init__(config)
        self.mlm_head = MLMHead(config)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the scores of all tokens, (B, T, V), and before them the loss if labels are given.

        With labels, the scores may be those of the labelled places alone, (N, V).
        """
        # Problem 3, 1(a). Put the final hidden vectors through self.mlm_head, with the table of
        # embeddings, self.bert.embeddings.words.weight. A label of -100 does not count: the loss is
        # the mean over the other places.
        # TODO: Problem 3, 1(a), mymodel.py: write BertForMaskedLanguageModel.forward; see its comment.
        # <solution>
        hidden = self.bert(input_ids, attention_mask, token_type_ids)
        table = self.bert.embeddings.words.weight
        if masked_lm_labels is None:
            return (self.mlm_head(hidden, table),)
        is_chosen = masked_lm_labels != IGNORED
        # only there: scoring the whole vocabulary takes longer than the body does
        scores = self.mlm_head(hidden[is_chosen], table)
        total = F.cross_entropy(scores, masked_lm_labels[is_chosen], reduction="sum")
        return total / is_chosen.sum().clamp(min=1), scores
        # </solution>


class BertForCLSMLM(BertForSequenceClassification):
    """Both heads on one body: ``forward`` is the classifier, ``masked`` predicts masked tokens."""

    def __init__(self, config: BertSize, num_labels: int, *, pooler: bool = False) -> None:
        super().__init__(config, num_labels, pooler=pooler)
        self.mlm_head = MLMHead(config)

    def masked(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return what the masked language model does, on the body of the classifier."""
        # Problem 3, 1(a). The same steps as in BertForMaskedLanguageModel.
        # TODO: Problem 3, 1(a), mymodel.py: write BertForCLSMLM.masked; see its comment.
        # <solution>
        return BertForMaskedLanguageModel.forward(
            self, input_ids, attention_mask, token_type_ids, masked_lm_labels
        )
        # </solution>
