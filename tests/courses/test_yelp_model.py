"""The yelp course's models: as the document calls them, equal to the lab's, read and written."""

from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import YELP, load

from attnlab.models import bert
from attnlab.models.bert_format import load_pretrained, read_bert
from small_bert import write_small_bert

mymodel = load("mymodel.py", course=YELP)
TOKENS = torch.tensor([[2, 5, 6, 3], [2, 7, 3, 0]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
LABELS = torch.tensor([4, 0])


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(write_small_bert(tmp_path / "bert"))


def read(name: str, folder: str, *options: Any, **named: Any) -> Any:
    torch.manual_seed(0)
    return getattr(mymodel, name).from_pretrained(folder, *options, **named).eval()


def test_a_classifier_returns_the_loss_and_the_scores_or_the_scores_alone(folder: str) -> None:
    model = read("BertForSequenceClassification", folder, 5)
    loss, logits = model(TOKENS, MASK, torch.zeros_like(TOKENS), LABELS)
    assert logits.shape == (2, 5)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(logits, LABELS))
    (alone,) = model(TOKENS, MASK)
    torch.testing.assert_close(alone, logits)


def test_the_loss_of_masked_tokens_is_over_the_labelled_places(folder: str) -> None:
    model = read("BertForMaskedLanguageModel", folder)
    (scores,) = model(TOKENS, MASK)
    assert scores.shape == (2, 4, 22)
    loss, chosen = model(TOKENS, MASK, None, torch.where(TOKENS == 6, TOKENS, -100))
    torch.testing.assert_close(chosen, scores[0, 2:3])
    torch.testing.assert_close(loss, -scores[0, 2].log_softmax(-1)[6])
    loss, _ = model(TOKENS, MASK, None, torch.full_like(TOKENS, -100))
    assert loss.item() == 0, "where nothing is masked"


def test_both_heads_are_on_one_body(folder: str) -> None:
    masked, both = read("BertForMaskedLanguageModel", folder), read("BertForCLSMLM", folder, 5)
    torch.testing.assert_close(both.masked(TOKENS, MASK)[0], masked(TOKENS, MASK)[0])
    classifier = read("BertForSequenceClassification", folder, 5)
    classifier.classifier = both.classifier
    torch.testing.assert_close(both(TOKENS, MASK)[0], classifier(TOKENS, MASK)[0])


@pytest.mark.parametrize("pooler", [False, True])
def test_a_classifier_is_that_of_the_lab_with_the_same_seed(folder: str, pooler: bool) -> None:
    pretrained = read_bert(Path(folder))
    torch.manual_seed(0)
    ours = bert.BertForSequenceClassification(pretrained.size, 5, pooler=pooler).eval()
    load_pretrained(ours, pretrained)
    model = read("BertForSequenceClassification", folder, 5, pooler=pooler)
    wanted = ours(TOKENS, torch.zeros_like(TOKENS), MASK.bool())
    assert torch.equal(model(TOKENS, MASK)[0], wanted)
    plain = model.classifier(model.bert(TOKENS, MASK)[:, 0])
    torch.testing.assert_close(plain, wanted, msg="first() and forward() agree")


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "BertForCLSMLM"])
def test_what_is_saved_is_read_back(folder: str, tmp_path: Path, name: str) -> None:
    model = read(name, folder, 5)
    model.save_pretrained(tmp_path / "saved", classes=["1", "2", "3", "4", "5"])
    again = read(name, str(tmp_path / "saved"), 5)
    assert torch.equal(again(TOKENS, MASK)[0], model(TOKENS, MASK)[0])
    assert read_bert(tmp_path / "saved").classes == ("1", "2", "3", "4", "5")


def test_layers_under_names_of_ones_own_are_saved_and_read_back(
    folder: str, tmp_path: Path
) -> None:
    class Mine(mymodel.BertForMaskedLanguageModel):  # type: ignore[misc, name-defined]
        """With the last matrix as a layer, which many write, tied to the table."""

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.decoder = torch.nn.Linear(config.d_model, config.vocab_size)
            self.decoder.weight = self.bert.embeddings.words.weight

    model = Mine.from_pretrained(folder)
    assert model.decoder.weight is model.bert.embeddings.words.weight
    torch.nn.init.normal_(model.decoder.bias)
    model.save_pretrained(tmp_path / "saved")
    again = Mine.from_pretrained(str(tmp_path / "saved"))
    assert torch.equal(again.decoder.bias, model.decoder.bias)
    assert torch.equal(again.decoder.weight, model.decoder.weight)
