"""*boolq* 1: the quiz, shown by tokenizers and models."""

from collections import Counter

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, trainers
from torch import nn

from attnlab.data.batches import IGNORED
from attnlab.data.byte_pairs import SMALLEST, BytePairTokenizer
from attnlab.data.masking import mask_tokens
from attnlab.data.wordpiece import SPECIAL, WordPiece
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.sizes import BertSize
from random_encoders import bytes_tokenizer, pieces_tokenizer
from small_hub import TEXTS

CODE = [
    "for i in range(n): total += values[i]",
    "def mean(values): return sum(values) / len(values)",
    "while i < len(values): i += 1",
]


def test_a_pair_of_sentences() -> None:
    words = WordPiece([*SPECIAL, "was", "it", "fine", "yes"])
    row = words.row("was it fine", "yes", max_len=10)
    tokens = [words.id_to_token[token] for token in row.tokens]
    assert tokens == ["[CLS]", "was", "it", "fine", "[SEP]", "yes", "[SEP]"]
    assert list(row.types) == [0, 0, 0, 0, 0, 1, 1]
    library = pieces_tokenizer(TEXTS, 90)
    pair = library.convert_ids_to_tokens(library("it was", "fine")["input_ids"])
    assert (pair[0], pair[-1], pair.count("[SEP]")) == ("[CLS]", "[SEP]", 2)


def test_another_kind_of_text_takes_more_tokens() -> None:
    prose, code = (BytePairTokenizer.of(texts, size=320) for texts in (TEXTS, CODE))
    of_prose, of_code = (sum(len(one.encode(text)) for text in CODE) for one in (prose, code))
    assert of_prose > 1.5 * of_code


def test_a_new_tokenizer_gives_the_same_rows_to_other_tokens() -> None:
    prose, code = (BytePairTokenizer.of(texts, size=320) for texts in (TEXTS, CODE))
    learned = range(SMALLEST, 320)  # beyond the single bytes
    same = [token for token in learned if prose.decode([token]) == code.decode([token])]
    assert len(same) < len(learned) / 4


def trained(text: dict[str, int], n_merges: int) -> Tokenizer:
    """Learn byte pairs from words that occur so often, and so many merges."""
    made = Tokenizer(models.BPE())
    letters = {letter for word in text for letter in word}
    trainer = trainers.BpeTrainer(vocab_size=len(letters) + n_merges, show_progress=False)
    words = [word for word, count in text.items() for _ in range(count)]
    made.train_from_iterator(words, trainer)
    return made


OFTEN = {"ax": 31, "bx": 30, "ab": 9, "qz": 5}
"""Words of one pair each; q and z occur nowhere else."""


def test_byte_pairs_start_small_and_grow() -> None:
    sizes = [trained(OFTEN, n).get_vocab_size() for n in range(4)]
    assert sizes == [5, 6, 7, 8]  # a b q x z, then one token for every merge
    assert all(len(token) == 1 for token in trained(OFTEN, 0).get_vocab())


def test_byte_pairs_merge_the_most_frequent_pair() -> None:
    numbers = trained(OFTEN, 4).get_vocab()
    merged = sorted((token for token in numbers if len(token) == 2), key=numbers.__getitem__)
    assert merged == ["ax", "bx", "ab", "qz"]  # by how often they occur
    letters = Counter("".join(word * count for word, count in OFTEN.items()))
    score = {pair: n / (letters[pair[0]] * letters[pair[1]]) for pair, n in OFTEN.items()}
    assert max(score, key=score.__getitem__) == "qz"  # what the score of WordPiece would take


def test_byte_pairs_apply_merges_and_do_not_take_the_longest_piece() -> None:
    vocabulary = {token: number for number, token in enumerate(["a", "b", "c", "bc", "ab"])}
    merges = [("b", "c"), ("a", "b")]
    pairs = Tokenizer(models.BPE(vocabulary, merges))
    assert pairs.encode("abc").tokens == ["a", "bc"]  # the first merge first
    longest = WordPiece([*SPECIAL, "a", "ab", "##c", "##bc"])
    assert [longest.id_to_token[token] for token in longest.encode("abc")] == ["ab", "##c"]


def test_labels_are_the_original_tokens_in_their_places() -> None:
    rows = [[2, *range(5, 95), 3], [2, *range(5, 45), 3]]
    masked = mask_tokens(
        rows, np.random.default_rng(0), mask_id=4, vocab_size=95, special_ids=range(5)
    )
    chosen = 0
    for row, tokens, targets in zip(rows, *masked, strict=True):
        assert len(row) == len(tokens) == len(targets)
        for original, shown, target in zip(row, tokens, targets, strict=True):
            assert target in (original, IGNORED)  # never a neighbour
            assert target != IGNORED or shown == original
            chosen += target != IGNORED
    assert chosen / 130 == pytest.approx(0.15, abs=0.08)


def test_words_in_unknown_letters_are_all_one_token() -> None:
    english = WordPiece([*SPECIAL, *"abcdefghijklmnopqrstuvwxyz", "##a", "##b"])
    assert english.encode("Ειρήνη ειδήσεις ψωμί") == [english.unk] * 3


def test_fine_tuning_does_not_touch_words_that_the_data_lacks() -> None:
    torch.manual_seed(0)
    size = BertSize(vocab_size=30, d_model=12, n_heads=3, n_layers=1, d_mlp=20, max_len=8)
    model = BertForSequenceClassification(size, 2)
    table = model.get_parameter(next(n for n, _ in model.named_parameters() if "words" in n))
    before = table.detach().clone()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(5):
        tokens = torch.randint(20, (16, 6))  # 20 … 29 never occur
        optimizer.zero_grad()
        scores = model(tokens, torch.zeros_like(tokens))
        nn.functional.cross_entropy(scores, tokens[:, 0] % 2).backward()
        optimizer.step()
    assert torch.equal(table[20:], before[20:])
    assert (table[:20] != before[:20]).any(dim=1).all()


def test_a_foreign_tokenizer_fails_in_silence() -> None:
    from transformers import GPT2Config, GPT2Model

    berts, own = pieces_tokenizer(TEXTS, 60), bytes_tokenizer(TEXTS, 90)
    torch.manual_seed(0)
    gpt = GPT2Model(GPT2Config(vocab_size=len(own), n_embd=12, n_layer=1, n_head=3, n_positions=32))
    encoded = berts("the food was fine", return_tensors="pt")
    with torch.no_grad():
        out = gpt.eval()(**encoded).last_hidden_state
    assert torch.isfinite(out).all()  # no error, since the table has rows for these numbers
    meant, read = (one.convert_ids_to_tokens(encoded["input_ids"][0]) for one in (berts, own))
    assert sum(a == b for a, b in zip(meant, read, strict=True)) <= 1
