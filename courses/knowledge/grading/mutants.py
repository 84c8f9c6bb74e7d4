"""Our own solution with one bug each, to test that the grader catches it.

A data set's mutant is a data set that cuts by hand (``BY_HAND``, itself right) with a place of it
changed, as a student would have written it; an attention's is our file with a place changed.
"""

from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parent.parent / "src"


class Mutant(NamedTuple):
    """A bug, and the checks that must fail because of it, these and no other."""

    name: str
    old: str
    new: str
    fails: tuple[str, ...]


OURS = """        (row,) = corrupt([text], generator, block=block, sentinel=sentinel, closing=self.third_mark)
        row += [PAD_TOKEN] * (block - len(row))
        return torch.tensor(row[:-1]), torch.tensor(row[1:])
"""
BY_HAND = """        text = self._tokenizer.encode(self._documents[index])
        longest = min(len(text), block * 7 // 8)
        cut = text[: int(generator.integers(min(4, longest), longest + 1))]
        size = int(generator.integers(1, max(1, len(cut) // 2) + 1))
        start = int(generator.integers(0, len(cut) - size + 1))
        prefix, span, suffix = cut[:start], cut[start : start + size], cut[start + size :]
        row = [*prefix, sentinel, *suffix, sentinel, *span]
        row = row + [PAD_TOKEN] * (block - len(row))
        return torch.tensor(row[:-1]), torch.tensor(row[1:])
"""

DATASETS = (
    Mutant("size from the length before the cut", "max(1, len(cut) // 2) + 1)", "max(1, min(len(text) // 2, len(cut))) + 1)", ("a quarter",)),
    Mutant("span of a fixed length", "size = int(generator.integers(1, max(1, len(cut) // 2) + 1))", "size = min(block // 8, len(cut))", ("a quarter", "random size")),
    Mutant("always a quarter exactly", "size = int(generator.integers(1, max(1, len(cut) // 2) + 1))", "size = max(1, len(cut) // 4)", ("random size",)),
    Mutant("a half on average", "max(1, len(cut) // 2) + 1)", "len(cut) + 1)", ("a quarter",)),
    Mutant("span never at the beginning", "start = int(generator.integers(0, len(cut) - size + 1))", "start = int(generator.integers(min(1, len(cut) - size), len(cut) - size + 1))", ("any place",)),
    Mutant("span never at the end", "start = int(generator.integers(0, len(cut) - size + 1))", "start = int(generator.integers(0, max(1, len(cut) - size)))", ("any place",)),
    Mutant("span always in the middle", "start = int(generator.integers(0, len(cut) - size + 1))", "start = (len(cut) - size) // 2", ("any place",)),
    Mutant("span not moved", "[*prefix, sentinel, *suffix, sentinel, *span]", "[*prefix, sentinel, *span, sentinel, *suffix]", ("order",)),
    Mutant("span left out", "[*prefix, sentinel, *suffix, sentinel, *span]", "[*prefix, sentinel, *suffix, sentinel]", ("order",)),
    Mutant("suffix before prefix", "[*prefix, sentinel, *suffix, sentinel, *span]", "[*suffix, sentinel, *prefix, sentinel, *span]", ("order",)),
    Mutant("one mark only", "[*prefix, sentinel, *suffix, sentinel, *span]", "[*prefix, sentinel, *suffix, *span]", ("marks",)),
    Mutant("cut to the block less the marks", "longest = min(len(text), block * 7 // 8)", "longest = min(len(text), block - 2)", ("cut",)),
    Mutant("never the longest cut", "longest = min(len(text), block * 7 // 8)", "longest = min(len(text), block * 7 // 8 - 1)", ("every length",)),
    Mutant("not cut at random", "cut = text[: int(generator.integers(min(4, longest), longest + 1))]", "cut = text[:longest]", ("every length",)),
    Mutant("cut from 1 on", "int(generator.integers(min(4, longest), longest + 1))", "int(generator.integers(1, longest + 1))", ("cut",)),
    Mutant("cut out of the middle", "cut = text[: int(generator.integers(min(4, longest), longest + 1))]", "cut = text[::-1][: int(generator.integers(min(4, longest), longest + 1))][::-1]", ("order",)),
    Mutant("block of 128 whatever is asked", "longest = min(len(text), block * 7 // 8)", "block = 128; longest = min(len(text), 112)", ("lengths of x and y", "cut")),
    Mutant("y not shifted", "torch.tensor(row[:-1]), torch.tensor(row[1:])", "torch.tensor(row[:-1]), torch.tensor(row[:-1])", ("shift",)),
    Mutant("padding in front", "row + [PAD_TOKEN] * (block - len(row))", "[PAD_TOKEN] * (block - len(row)) + row", ("padding",)),
    Mutant("no padding", "row + [PAD_TOKEN] * (block - len(row))", "row", ("runs", "lengths of x and y")),
    Mutant("the same draw every time", "longest = min(len(text), block * 7 // 8)", "generator = np.random.default_rng(index); longest = min(len(text), block * 7 // 8)", ("every length", "a quarter", "random size", "any place", "fresh draws")),
    Mutant("short documents crash", "int(generator.integers(min(4, longest), longest + 1))", "int(generator.integers(4, longest + 1))", ("runs",)),
)  # fmt: skip

ATTENTIONS = (
    Mutant("no ReLU", "self.w1(x).relu()", "self.w1(x)", ("equation 5", "ReLU")),
    Mutant("GELU", "self.w1(x).relu()", "nn.functional.gelu(self.w1(x))", ("equation 5", "ReLU")),
    Mutant("no mask", "attn_softmax(apply_causal_mask(mask, scores))", "attn_softmax(scores)", ("equation 5", "causal")),
    Mutant("mask after the softmax", "attn_softmax(apply_causal_mask(mask, scores))", "attn_softmax(scores) * mask", ("equation 5", "weights sum to 1")),
    Mutant("mask transposed", "self.mask, n_tokens), self.attn_drop)\n        out: Tensor = self.resid_drop(self.proj(y))\n        return out\n\n\ndef", "self.mask.mT, n_tokens), self.attn_drop)\n        out: Tensor = self.resid_drop(self.proj(y))\n        return out\n\n\ndef", ("equation 5", "causal")),
    Mutant("b2 left out", " + self.b2[:n_tokens]", "", ("equation 5", "b2")),
    Mutant("scores divided", " + self.b2[:n_tokens]", " + self.b2[:n_tokens]\n        scores = scores / 2", ("equation 5",)),
    Mutant("scores written by the other token", " + self.b2[:n_tokens]", " + self.b2[:n_tokens]\n        scores = scores.mT", ("equation 5", "no pairs", "b2")),
    Mutant("dot products of pairs", "hidden @ self.w2[:, :n_tokens]", "hidden @ hidden.mT", ("equation 5", "no pairs")),
    Mutant("heads transposed", "merge_heads(compute_outputs(dropout(weights), v))", "compute_outputs(dropout(weights), v).permute(0, 2, 3, 1).flatten(2)", ("equation 5",)),
    Mutant("columns from the end", "self.w2[:, :n_tokens]", "self.w2[:, -n_tokens:]", ("equation 5",)),
    Mutant("no projection", "self.resid_drop(self.proj(y))\n        return out\n\n\ndef", "self.resid_drop(y)\n        return out\n\n\ndef", ("equation 5",)),
    Mutant("softmax over the queries", "attn_softmax(apply_causal_mask(mask, scores))", "apply_causal_mask(mask, scores).softmax(-2)", ("equation 5", "causal", "no pairs", "weights sum to 1", "b2")),
    Mutant("w2 has another name", "self.w2", "self.second", ("runs",)),
    Mutant("stops the program", "hidden = split_heads(self.w1(x).relu(), self.n_head)", "raise SystemExit('enough')", ("runs",)),
)  # fmt: skip


def dataset_by_hand() -> str:
    """Return the right data set that cuts by hand."""
    return _changed((SOURCES / "dataset.py").read_text(encoding="utf-8"), OURS, BY_HAND)


def source_of(mutant: Mutant) -> str:
    """Return the text of a file with the bug in it."""
    if mutant in DATASETS:
        return _changed(dataset_by_hand(), mutant.old, mutant.new)
    text = (SOURCES / "attention.py").read_text(encoding="utf-8")
    return _changed(text, mutant.old, mutant.new, everywhere=mutant.old == "self.w2")


def _changed(text: str, old: str, new: str, *, everywhere: bool = False) -> str:
    count = text.count(old)
    assert count == 1 or (count and everywhere), f"{old!r} stands there {count} times"
    return text.replace(old, new)
