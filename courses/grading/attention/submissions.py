"""Both notebooks with one mistake each, to test that the grader catches it by name.

    python -m grading.attention.submissions FOLDER     # one student per mistake

They are made from our own: a mistake replaces a line of it.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from grading.mistakes import Mistake, rename, replace
from grading.probing import COURSES

HAND, SCRATCH = "A2S1.ipynb", "A2S2.ipynb"


def right(folder: Path) -> None:
    """Write a right submission."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (HAND, SCRATCH):
        shutil.copy(COURSES / "attention" / name, folder)


def by_hand(name: str, old: str, new: str, *, check: str, said: str) -> Mistake:
    """Return a mistake in 1.2 to 1.4; the check is called 1.3.2 average_two, in part 1.3."""
    return Mistake(name, replace(HAND, old, new), check[:3], check, said)


def from_scratch(name: str, old: str, new: str, *, check: str, said: str) -> Mistake:
    """Return a mistake in 2.1."""
    return Mistake(name, replace(SCRATCH, old, new), "2.1", check, said)


def both(*changes: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return what makes several changes."""

    def make(folder: Path) -> None:
        for change in changes:
            change(folder)

    return make


FIRST, ALL = "1.2.1 select_first", "1.2.2 select_all"
MEAN, TWO = "1.3.1 average_all", "1.3.2 average_two"
JOINS, SELECTED = "1.4.1 key_to_average", "1.4.2 key_to_select"
BY_HAND = (
    by_hand(
        "the key not scaled", "return 1e6 * K[0]", "return K[0]", check=FIRST,
        said="of the weight is left on keys that should get nothing",
    ),
    by_hand(
        "counted from 1", "return 1e6 * K[0]", "return 1e6 * K[1]", check=FIRST,
        said="Key 1, which should get nothing, scores higher than a wanted one",
    ),
    by_hand(
        "the value instead of the key", "return 1e6 * K[0]", "return 1e6 * V[0]", check=FIRST,
        said="Key 3, which should get nothing, scores higher than a wanted one",
    ),
    by_hand(
        "divided by zero", "return 1e6 * K[0]", "return K[0] / 0", check=FIRST,
        said="numbers that are too large or not numbers at all",
    ),
    by_hand(
        "the keys not scaled", "return 1e6 * K\\n", "return K\\n", check=ALL,
        said="in row 3, where the weights are",
    ),
    by_hand(
        "one query for all", "return 1e6 * K\\n", "return 1e6 * K.mean(dim=0)\\n", check=ALL,
        said="the answer is a vector of 3, but must be a matrix of 4 rows of 3 numbers",
    ),
    by_hand(
        "queries as columns", "return 1e6 * K\\n", "return 1e6 * K.T\\n", check=ALL,
        said="the answer is a matrix of 3 × 4, but must be a matrix of 4 rows of 3 numbers",
    ),
    by_hand(
        "no return", "    return 1e6 * K\\n", "    Q = 1e6 * K\\n", check=ALL,
        said="not written yet: it returns nothing",
    ),
    by_hand(
        "a misspelt function", "def select_all(", "def select_al(", check=ALL,
        said="A2S1.ipynb has no function select_all. Did you mean 'select_al'?",
    ),
    by_hand(
        "the mean of the keys, but longer", "    return torch.zeros(K.shape[1])",
        "    return 10 * K.mean(dim=0)", check=MEAN,
        said="It scores key 1 higher than key 0",
    ),
    by_hand(
        "the mean of two keys, not scaled", "return 20 * query", "return (K[0] + K[1]) / 2",
        check=TWO, said="of the weight is left on keys that should get nothing",
    ),
    by_hand(
        "the sum of two keys, scaled too much", "return 20 * query",
        "return 1000 * (K[0] + K[1])", check=TWO,
        said="where the weights are [0.013, 0.99, 0, 0]. It scores key 1 higher than key 0",
    ),
    by_hand(
        "an endless loop", "return 20 * query", "while True: pass", check=TWO,
        said="and was stopped",
    ),
    by_hand(
        "the query itself as a key", "del q\\n", "return q\\n", check=JOINS,
        said="where the weights are [0, 0, 1, 0] instead of [0.33, 0.33, 0.33, 0]",
    ),
    by_hand(
        "the old key", "return (K[0] + K[1]) / 2", "return K[2]", check=JOINS,
        said="where the weights are [0.5, 0.5, 0, 0] instead of [0.33, 0.33, 0.33, 0]",
    ),
    by_hand(
        "a key that is too long", "return q / q.norm()", "return q", check=SELECTED,
        said="the key must have length 1, it has 31.97",
    ),
    by_hand(
        "a query that is too short for any key", "return 20 * query",
        "return 5 * (K[0] + K[1])", check=SELECTED,
        said="with your query of 1.3.2, no key of length 1 has an error below 0.12: make that",
    ),
)  # fmt: skip

SCALE, SOFTMAX = "return A / math.sqrt(n_embd / n_heads)", "return F.softmax(A, dim=-1)"
MASK, HIDE = "torch.tril(torch.ones(n_tok, n_tok))", "return A.masked_fill(mask == 0, -math.inf)"
SPLIT = "return x.view(*x.shape[:2], n_heads, -1).transpose(1, 2)"
MERGE, MIX = "return x.transpose(1, 2).flatten(2)", "compute_outputs(attn_softmax(A), V)"
APPLY = "A = apply_causal_mask(make_causal_mask(n_tok), A)"
LATE = "compute_outputs(attn_softmax(A) * (make_causal_mask(n_tok) if causal else 1), V)"
FROM_SCRATCH = (
    from_scratch(
        "rows and columns exchanged", "return Q @ K.tr", "return K @ Q.tr",
        check="pairwise_similarities", said="rows and columns are exchanged",
    ),
    from_scratch(
        "no scale", SCALE, "return A", check="attn_scaled", said="the scores are not scaled",
    ),
    from_scratch(
        "divided by d", SCALE, "return A / (n_embd / n_heads)", check="attn_scaled",
        said="divided by the width of a head instead of its square root",
    ),
    from_scratch(
        "the width of all heads", SCALE, "return A / math.sqrt(n_embd)", check="attn_scaled",
        said="divided by √n_embd, but a head is only n_embd / n_heads wide",
    ),
    from_scratch(
        "softmax over the queries", SOFTMAX, "return F.softmax(A, dim=-2)", check="attn_softmax",
        said="the softmax runs over the queries",
    ),
    from_scratch(
        "softmax over axis 1", SOFTMAX, "return F.softmax(A, dim=1)", check="attn_softmax",
        said="the softmax runs over axis 1",
    ),
    from_scratch(
        "weights transposed", "return A @ V", "return A.transpose(-2, -1) @ V",
        check="compute_outputs", said="the weights are transposed",
    ),
    from_scratch(
        "mask transposed", MASK, MASK.replace("tril", "triu"), check="make_causal_mask",
        said="the mask is transposed",
    ),
    from_scratch(
        "a token does not see itself", MASK, MASK.replace("))", "), -1)"),
        check="make_causal_mask", said="a token may not see itself",
    ),
    from_scratch(
        "hidden scores become 0", HIDE, "return A * mask", check="apply_causal_mask",
        said="hidden scores become 0",
    ),
    from_scratch(
        "the future visible", HIDE, "return A", check="apply_causal_mask",
        said="the mask is not applied: the future is seen",
    ),
    from_scratch(
        "the past hidden", HIDE, HIDE.replace("== 0", "== 1"), check="apply_causal_mask",
        said="the scores that may be seen are hidden",
    ),
    from_scratch(
        "view instead of transpose", SPLIT, "return x.view(x.shape[0], n_heads, x.shape[1], -1)",
        check="split_heads", said="view without transpose",
    ),
    from_scratch(
        "heads of every n-th number", SPLIT,
        "return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)",
        check="split_heads", said="every n-th number of a token",
    ),
    from_scratch(
        "merged in the wrong order", MERGE, "return x.permute(0, 2, 3, 1).flatten(2)",
        check="merge_heads", said="the heads are merged in the wrong order",
    ),
    from_scratch(
        "merged without transpose", MERGE, "return x.reshape(x.shape[0], x.shape[2], -1)",
        check="merge_heads", said="reshape without transpose",
    ),
    Mistake(
        "mask after the softmax", both(replace(SCRATCH, APPLY, "pass"), replace(SCRATCH, MIX, LATE)),
        "2.1", "self_attention", "the mask comes after the softmax",
    ),
    from_scratch(
        "no mask at all", APPLY, "pass", check="self_attention",
        said="no mask is applied: the future is seen",
    ),
    from_scratch(
        "always causal", "if causal:", "if True:", check="self_attention",
        said="the mask is applied even if causal is False",
    ),
    from_scratch(
        "queries and keys swapped", "pairwise_similarities(Q, K)\\n",
        "pairwise_similarities(K, Q)\\n", check="self_attention",
        said="pairwise_similarities: rows and columns are exchanged",
    ),
    Mistake(
        "keys and values swapped",
        both(
            replace(SCRATCH, "pairwise_similarities(Q, K)\\n", "pairwise_similarities(Q, V)\\n"),
            replace(SCRATCH, MIX, MIX.replace("V", "K")),
        ),
        "2.1", "self_attention", "keys and values are exchanged",
    ),
    from_scratch(
        "keys for values", MIX, MIX.replace("V", "K"), check="self_attention",
        said="the outputs mix the keys instead of the values",
    ),
    from_scratch(
        "queries for keys", "pairwise_similarities(Q, K)\\n", "pairwise_similarities(Q, Q)\\n",
        check="self_attention", said="queries are compared with queries",
    ),
    from_scratch(
        "one head whatever is asked", "n_heads > 1", "n_heads < 0", check="self_attention",
        said="the heads are not split",
    ),
    from_scratch(
        "a projection too many", "    return y",
        "    return nn.Linear(n_embd, n_embd, dtype=y.dtype)(y)", check="self_attention",
        said="no usual mistake gives them",
    ),
    from_scratch(
        "no return value", SOFTMAX, "F.softmax(A, dim=-1)", check="attn_softmax",
        said="not written yet: it returns nothing",
    ),
    from_scratch(
        "a misspelt function", "attn_softmax(", "attn_sofmax(", check="attn_softmax",
        said="the file has no function attn_softmax. Did you mean 'attn_sofmax'?",
    ),
    Mistake(
        "a misspelt file", rename(SCRATCH, "A2S2 (1).ipynb"), "2.1", "pairwise_similarities",
        "there is no A2S2.ipynb and no A2S2.py. Did you mean 'A2S2 (1).ipynb'?",
    ),
)  # fmt: skip
"""The document leaves the output projection out of 2.1, so that none can be missing."""


def main() -> None:
    """Write a class in which every student makes one mistake."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    for mistake in (*BY_HAND, *FROM_SCRATCH):
        student = folder / f"{mistake.part} {mistake.name}".replace(",", "").replace(" ", "-")
        right(student)
        mistake.make(student)


if __name__ == "__main__":
    main()
