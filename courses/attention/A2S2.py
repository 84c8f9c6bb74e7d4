# %% [markdown]
# # Building your own attention
#
# You write multi-head scaled dot-product self-attention step by step, one small function at a time,
# and compare it with the one that PyTorch has. Nothing needs a loop: every function but
# `self_attention` is one line.
#
# | letter | what it counts |
# |---|---|
# | B | rows of the batch |
# | n_tok | tokens of a row |
# | n_embd | numbers that describe a token |
# | n_heads | heads; each has n_embd / n_heads of these numbers |
#
# For a second opinion at any time, save the notebook and run `attnlab attention check A2S2.ipynb`. For
# every function, it says that it is right, what its bug does, or that it is not written yet.

# %%
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# %% [markdown]
# ## Step 0: projections
#
# `init_qkv_proj` is given: the matrices $W_Q, W_K, W_V$ that turn tokens into queries, keys and values,
# each with a bias. `self_attention` is yours: as you finish the functions below, put them together
# there. Begin with Step 1 alone, without mask and heads.


# %%
def init_qkv_proj(n_embd: int) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Return the projections of queries, keys and values."""
    return nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)


def self_attention(
    Q: Tensor, K: Tensor, V: Tensor, n_heads: int = 1, causal: bool = True
) -> Tensor:
    """Turn queries, keys and values, each (B, n_tok, n_embd), into outputs of the same shape."""
    assert Q.shape == K.shape == V.shape
    B, n_tok, n_embd = Q.size()
    # TODO: Step 3 - split the heads, if there are several.
    # <solution for later>
    if n_heads > 1:
        Q, K, V = split_heads_qkv(Q, K, V, n_heads)
    # </solution>
    # TODO: Step 1 - the scaled scores A, in two lines.
    # <solution>
    A = pairwise_similarities(Q, K)
    A = attn_scaled(A, n_embd, n_heads)
    # </solution>
    # TODO: Step 2 - make the causal mask and apply it, if `causal`.
    # <solution for later>
    if causal:
        A = apply_causal_mask(make_causal_mask(n_tok), A)
    # </solution>
    # TODO: Step 1 - the softmax, and the outputs y.
    # <solution>
    y = compute_outputs(attn_softmax(A), V)
    # </solution>
    # TODO: Step 3 - merge the heads, if there are several.
    # <solution for later>
    if n_heads > 1:
        y = merge_heads(y)
    # </solution>
    assert y.shape == (B, n_tok, n_embd)
    return y


# %% [markdown]
# ## Step 1: the core
#
# The score of query $i$ with key $j$ is their dot product, $\alpha_{ij} = q_i \cdot k_j$; for all pairs
# at once, $A = QK^\top$. Scores are divided by $\sqrt{n_{embd} / n_{heads}}$ so that their spread does
# not grow with the width of a head. A softmax makes weights of them, and the output is the weighted
# sum of the values, $O = A'V$.
#
# Mind the batch: transpose the last two axes only. And think about which axis the softmax runs over:
# whose weights must sum to 1?


# %%
def pairwise_similarities(Q: Tensor, K: Tensor) -> Tensor:
    """Compare every query with every key."""
    # TODO: Step 1 - the dot products of every query with every key, in one line.
    # <solution>
    return Q @ K.transpose(-2, -1)
    # </solution>


def attn_scaled(A: Tensor, n_embd: int, n_heads: int) -> Tensor:
    """Scale the scores by 1 / sqrt(n_embd / n_heads)."""
    # TODO: Step 1 - multiply the scores by 1 / sqrt(n_embd / n_heads), in one line.
    # <solution>
    return A / math.sqrt(n_embd / n_heads)
    # </solution>


def attn_softmax(A: Tensor) -> Tensor:
    """Turn scores into weights."""
    # TODO: Step 1 - a softmax over the right axis, in one line.
    # <solution>
    return F.softmax(A, dim=-1)
    # </solution>


def compute_outputs(A: Tensor, V: Tensor) -> Tensor:
    """Mix the values by their weights."""
    # TODO: Step 1 - the sums of the values, weighted by A, in one line.
    # <solution>
    return A @ V
    # </solution>


# %% [markdown]
# ## Step 2: no look into the future
#
# A language model predicts the next token, so a token may look at itself and at those before it. The
# mask is a triangle of ones (may look) and zeros (may not). Hidden scores become $-\infty$ *before*
# the softmax. Setting weights to 0 *after* the softmax looks the same and is not: the future still
# stands in the denominator. Try it later: `attnlab attention show late_mask`.


# %%
def make_causal_mask(n_tok: int) -> Tensor:
    """Return an n_tok × n_tok matrix that is 1 where a token may look."""
    # TODO: Step 2 - ones where a token may look, zeros elsewhere; torch.tril helps.
    # <solution>
    return torch.tril(torch.ones(n_tok, n_tok))
    # </solution>


def apply_causal_mask(mask: Tensor, A: Tensor) -> Tensor:
    """Hide the scores where the mask is 0."""
    # TODO: Step 2 - minus infinity where the mask is 0; torch.where or masked_fill help.
    # <solution>
    return A.masked_fill(mask == 0, -math.inf)
    # </solution>


# %% [markdown]
# ## Step 3: several heads
#
# Every head attends on its own, with its part of each token: (B, n_tok, n_embd) becomes
# (B, n_heads, n_tok, n_embd / n_heads). One reshape cannot do that: first cut the last axis in two,
# then move the heads before the tokens. Merging undoes both.


# %%
def split_heads_qkv(Q: Tensor, K: Tensor, V: Tensor, n_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Split all three; given."""
    return split_heads(Q, n_heads), split_heads(K, n_heads), split_heads(V, n_heads)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Turn (B, n_tok, n_embd) into (B, n_heads, n_tok, n_embd / n_heads)."""
    # TODO: Step 3 - cut the last axis in two, then move the heads before the tokens.
    # <solution>
    return x.view(*x.shape[:2], n_heads, -1).transpose(1, 2)
    # </solution>


def merge_heads(x: Tensor) -> Tensor:
    """Turn (B, n_heads, n_tok, n_embd / n_heads) back into (B, n_tok, n_embd)."""
    # TODO: Step 3 - undo both steps of split_heads.
    # <solution>
    return x.transpose(1, 2).flatten(2)
    # </solution>


# %% [markdown]
# ## The tests
#
# Each compares you with `torch.nn.functional.multi_head_attention_forward`, which gets the same
# projections and an output projection that changes nothing. An error near 0 means that you are right.


# %%
def compare_with_pytorch(n_heads: int, causal: bool) -> float | None:
    """Return the largest error against PyTorch, or None while something is still to do."""
    B, n_tok, n_embd = 2, 10, 12
    torch.manual_seed(0)
    x = torch.randn(B, n_tok, n_embd)
    W_Q, W_K, W_V = init_qkv_proj(n_embd)
    expected, _ = F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3,
        n_embd,
        n_heads,
        in_proj_weight=torch.cat([W_Q.weight, W_K.weight, W_V.weight]),
        in_proj_bias=torch.cat([W_Q.bias, W_K.bias, W_V.bias]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=torch.eye(n_embd),
        out_proj_bias=torch.zeros(n_embd),
        attn_mask=torch.ones(n_tok, n_tok).triu(1).bool() if causal else None,
    )
    try:
        y = self_attention(W_Q(x), W_K(x), W_V(x), n_heads=n_heads, causal=causal)
    except NotImplementedError as error:
        print(f"still to do: {error}")
        return None
    worst = float((y - expected.transpose(0, 1)).detach().abs().max())
    print(f"{n_heads} heads, causal {causal}: largest error {worst:.1e}")
    return worst


# %% [markdown]
# **Test 1**, after Step 1: one head, no mask.

# %%
error_1 = compare_with_pytorch(n_heads=1, causal=False)

# %% [markdown]
# **Test 2**, after Step 2: one head, causal. Test 1 must still hold.

# %%
error_2 = compare_with_pytorch(n_heads=1, causal=True)

# %% [markdown]
# **Test 3**, after Step 3: several heads. All tests must hold now.

# %%
error_3 = [compare_with_pytorch(n_heads=3, causal=causal) for causal in (False, True)]

# %% [markdown]
# ## 2.2: an experiment
#
# Now change something in attention, train, and see what it does. `attnlab attention ablate` trains the
# same small GPT once per condition and seed on the same text, compares every condition with
# dot-product attention on the end of the text, which no model has read, and says which differences are
# more than chance. It also measures whether a model sees the future: if it does, its perplexity means
# nothing. `attnlab attention ablate --help` lists the topics, and `attnlab attention list` the variants.
#
# Training takes minutes: set `EXPERIMENT = True` below, or the environment variable `EXPERIMENT=1`. It can
# be stopped at any time; the same cell goes on from there. `TEXT` is any text file. Without one, the
# models read made-up biographies, which are easier than any real text. For your report, use a real
# text and three seeds.

# %%
import os
import shlex
import subprocess
import sys
from pathlib import Path

from attnlab.environment import is_on

EXPERIMENT = is_on("EXPERIMENT")
TEXT = os.environ.get("TEXT", "shakespeare.txt")
OPTIONS = os.environ.get("OPTIONS", "--length '200k tokens' --seeds 2")


def attnlab(*words: str) -> None:
    """Run a command and print what it says."""
    command = [sys.executable, "-m", "attnlab", "--quiet", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout or f"attnlab says: {done.stderr}")


def ablate(name: str, *words: str) -> None:
    """Train every condition and show the comparison; what is trained already is only shown."""
    if not EXPERIMENT:
        print(f"{name}: set EXPERIMENT = True to train")
        return
    text = TEXT
    if not Path(text).exists():
        attnlab("knowledge", "world", "world")
        text = "world/wiki.txt"
    attnlab("attention", "ablate", text, *words, *shlex.split(OPTIONS), "--name", name)


# %% [markdown]
# ### A start
#
# The smallest change is another score. The function below takes two vectors of the width of a head and
# returns one number; a larger one means: look there. A whole layer of your own works the same way: write
# a class as in `docs/attention.md` into a file and give `my_layer.py:MyAttention` as the condition.

# %%
SCORE = """
def my_score(q, k):
    return (q.tanh() * k.tanh()).sum()  # the more coordinates agree in sign, the more
"""
Path("my_score.py").write_text(SCORE)
ablate("own", "--conditions", "custom:score=my_score.py:my_score")

# %% [markdown]
# ### The setup
#
# What is changed, why, and what is to be expected? Write it down before you train.
#
# TODO: your setup: the idea, what a reader must know, what you expect.
# <solution for later>
# Why are there queries, keys *and* values? Every token plays three roles: what it looks for, how it is
# found, and what it hands on. Each role has a projection of its own. If query and key share one, the
# score of two tokens is the same in both directions, and the score of a token with itself is the square of
# a length. So we expect tokens to look at themselves, and the model to be worse. If the value shares with
# one of them, the scores stay as free as before, and we expect no difference that a short training
# could show. Sharing saves parameters; to compare fairly, these models are made wider until they have as
# many as the control.
# </solution>

# %%
# TODO: run your experiment, as above.
# <solution for later>
ablate("sharing", "--topic", "sharing")
# </solution>

# %% [markdown]
# ### Results, and what they mean
#
# The page whose path is printed last has the table, the curves, and samples with what is wrong in them.
#
# TODO: your results, and what they mean for attention in language models. At most five pages in all.
# <solution for later>
# The table has bits per character with their intervals, the difference from dot-product attention with its
# p-value after Holm's correction, speed and memory. Below it stands how much weight a token gives to
# itself, which shows the symmetric scores at work. For every condition the page says whether it came out as
# expected. A sentence that begins with "Reading" is an interpretation; every other one follows from the
# numbers.
# </solution>
