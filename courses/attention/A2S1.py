# %% [markdown]
# # Understanding attention
#
# You choose queries, and once keys, by hand, so that attention copies or averages values. There is one
# head, no mask and no scaling: the output for a query $q$ is $\mathrm{softmax}(K q)^\top V$.
#
# A solution counts if no number of its output is off by more than **0.05**. Softmax never gives a
# weight of exactly 0, so most of what follows is reached in the limit only. Tokens are counted from 0.
#
# When you are done, ask for a second opinion: the last section shows how.

# %%
import subprocess
import sys
from collections.abc import Callable

import torch
from scipy.optimize import nnls
from torch import Tensor

torch.set_default_dtype(torch.float64)

K = torch.tensor(
    [[0.47, 0.65, 0.60], [0.64, 0.50, -0.59], [-0.03, -0.48, -0.88], [0.43, -0.83, 0.35]]
)
V = torch.tensor(
    [[-0.07, -0.88, 0.47], [0.37, -0.93, -0.07], [-0.25, -0.75, 0.61], [0.94, 0.20, 0.28]]
)
TOLERANCE = 0.05


def attention(q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """Return the output for one query, or a row of outputs for a matrix of queries."""
    return torch.softmax(q @ K.T, dim=-1) @ V


def error_of(output: Tensor, target: Tensor) -> float:
    """Say how far the output is off, in its worst number."""
    return float((output - target).abs().max())


def check(name: str, output: Callable[[], Tensor], target: Tensor) -> float | None:
    """Report the error of your solution, or what is still to do."""
    try:
        error = error_of(output(), target)
    except NotImplementedError as missing:
        print(f"still to do: {missing}")
        return None
    print(f"{name}: error {error:.2g}, {'right' if error <= TOLERANCE else 'wrong'}")
    return error


# %% [markdown]
# ## 1.2 Selection
#
# **1.2.1** Define a query that returns $v_0$. How did you get there?


# %%
def select_first(K: Tensor) -> Tensor:
    """Return a query that selects the first value."""
    # TODO: 1.2.1 - a query that returns v_0.
    # <solution>
    return 1e6 * K[0]
    # </solution>


error_1_2_1 = check("1.2.1", lambda: attention(select_first(K), K, V), V[0])

# %% [markdown]
# TODO: explain your query.
# <solution for later>
# The score of $k_0$ must be far above the other three. Among keys of equal length, each is its own best
# match: $k_0 \cdot k_0 > k_0 \cdot k_j$. So the direction is $k_0$, and a large multiple of it makes the
# softmax sharp. These keys have about length 1.
#
# **Where this is wrong.** A longer key may beat $k_0$ in $k_0$'s own direction. All weight can be put on
# token $i$ if and only if $k_i$ is a corner of the keys' convex hull and no other key equals it; the
# direction that does it need not be $k_i$. Inside the hull $k_i$ is a mean of other keys, its score is
# the same mean of their scores, and it can never be the highest.
# </solution>

# %% [markdown]
# **1.2.2** Define a matrix of queries that selects every value: $\mathrm{softmax}(Q K^\top) V = V$.


# %%
def select_all(K: Tensor) -> Tensor:
    """Return a matrix of queries, one a token, each of which selects its own value."""
    # TODO: 1.2.2 - a matrix of queries that returns V.
    # <solution>
    return 1e6 * K
    # </solution>


error_1_2_2 = check("1.2.2", lambda: attention(select_all(K), K, V), V)

# %% [markdown]
# TODO: explain your matrix.
# <solution for later>
# The weights must be the identity, which is 1.2.1 for every row. The largest entry of every row of
# $K K^\top$ stands on the diagonal here, so a large multiple of $K$ will do; elsewhere the rows of $Q$
# must be directions in which each key is the farthest.
# </solution>

# %% [markdown]
# **1.2.3** What is the ability to copy good for in a language model? (1–3 sentences)
#
# TODO: your answer.
# <solution for later>
# Much of the next word stands in the text already: names, numbers, the second half of a quotation. A
# head that finds the right token and passes its value on unmixed brings such a word to the place where
# it is needed, however far back it stands and however rare it is.
# </solution>

# %% [markdown]
# ### Further: a direction whenever there is one
#
# $u$ puts token $i$ first if $u \cdot (k_i - k_j) > 0$ for all other $j$. The point of the hull of these
# differences that is nearest to 0 is such a direction, with the largest margin; if that point is 0
# itself there is none. Non-negative least squares finds it.


# %%
def best_direction(K: Tensor, i: int) -> Tensor:
    """Return the direction along which key i leads by most, or zeros if it cannot lead."""
    # TODO: further - the nearest point to 0 of the hull of the differences.
    # <solution>
    differences = torch.cat([K[i] - K[:i], K[i] - K[i + 1 :]])
    system = torch.cat([differences.T, torch.ones(1, len(differences))])
    shares, _ = nnls(system.numpy(), [0.0] * K.shape[1] + [1.0])
    nearest = torch.tensor(shares) @ differences / shares.sum()
    return nearest / nearest.norm() if nearest.norm() > 1e-9 else torch.zeros(K.shape[1])
    # </solution>


long_and_short = torch.tensor([[1.0, -0.5], [3.0, 1.0], [0.0, 2.0], [-1.0, 0.5]])
triangle = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
# TODO: compare it with your answer to 1.2.1 on these keys (token 0, token 3).
# <solution for later>
for name, keys, i in [("unit", K, 0), ("unequal", long_and_short, 0), ("inside", triangle, 3)]:
    values = torch.eye(len(keys))
    by_key = error_of(attention(1e6 * keys[i], keys, values), values[i])
    by_direction = error_of(attention(1e6 * best_direction(keys, i), keys, values), values[i])
    print(f"{name}: error {by_key:.2g} with S·k{i}, {by_direction:.2g} with the best direction")
# </solution>

# %% [markdown]
# ## 1.3 Averaging
#
# **1.3.1** Define a query that averages all values. How did you get there?


# %%
def average_all(K: Tensor) -> Tensor:
    """Return a query that averages all values."""
    # TODO: 1.3.1 - a query that averages all four values.
    # <solution>
    return torch.zeros(K.shape[1])
    # </solution>


error_1_3_1 = check("1.3.1", lambda: attention(average_all(K), K, V), V.mean(dim=0))

# %% [markdown]
# TODO: explain your query.
# <solution for later>
# All four scores must be equal. The zero query scores every key 0: it is exact, for any keys. Here it is
# the only exact answer, because the four keys do not lie in a plane.
#
# **Where the usual answer is wrong.** The mean of the keys does not even out the scores. It passes with
# an error of 0.02 only because it is short, and so all scores are near 0; ten times as long, it puts
# 0.66 of the weight on $v_1$.
# </solution>

# %% [markdown]
# **1.3.2** Define a query that averages the first two values only. How did you get there?


# %%
def average_two(K: Tensor) -> Tensor:
    """Return a query that averages the first two values."""
    # TODO: 1.3.2 - a query that averages the first two values.
    # <solution>
    query, difference = K[0] + K[1], K[0] - K[1]
    query = query - (query @ difference) / (difference @ difference) * difference
    return 20 * query
    # </solution>


first_two = V[:2].mean(dim=0)
error_1_3_2 = check("1.3.2", lambda: attention(average_two(K), K, V), first_two)

# %% [markdown]
# TODO: explain your query.
# <solution for later>
# Two things are needed: $k_0$ and $k_1$ score the same, and clearly more than the others. Their sum
# points the right way, but scores $k_1$ a little higher (by 0.0043), since $k_1$ is a little longer. So
# what the sum has along $k_0 - k_1$ is taken away; then the two scores are equal and a larger scale
# only helps.
#
# **Where the usual answer is wrong.** With $S (k_0 + k_1)$ there is a best scale, 3.9. A smaller one
# leaves weight on the other tokens, a larger one multiplies the small difference until $v_1$ takes all.
# It is within 0.05 from 1.40 to 87.1 only. At $S = 10$ the error is 0.0058 (0.0029 belongs to $S = 5$).
#
# **In general** some tokens can be averaged, in the limit, if and only if their keys are exactly the
# keys on a face of the hull. These four keys are the corners of a tetrahedron, so any choice works.
# </solution>

# %%
# TODO: try several lengths of your query: does a longer one always have a smaller error?
# <solution for later>
for S in (1, 1.4, 3.9, 5, 10, 87.1, 100, 1000):
    weights = torch.softmax(K @ (S * (K[0] + K[1])), dim=0)
    shown = ", ".join(f"{weight:.4f}" for weight in weights)
    print(f"S = {S}: error {error_of(weights @ V, first_two):.4f}, weights {shown}")
# </solution>

# %% [markdown]
# **1.3.3** What is the ability to average good for in a language model? (1–3 sentences)
#
# TODO: your answer.
# <solution for later>
# Some of what predicts the next word is spread over many words: the topic, the tone, who is spoken of.
# An average over the right tokens collects it in one vector whose size does not depend on how many there
# are, and a selective one leaves out words that say nothing about it.
# </solution>

# %% [markdown]
# ## 1.4 Interactions
#
# Keep your query of 1.3.2 and all keys but $k_2$.
#
# **1.4.1** Replace $k_2$ so that the same query averages the first three values.


# %%
def with_third_key(key: Tensor) -> Tensor:
    """Return the keys with another third one."""
    return torch.cat([K[:2], key[None], K[3:]])


def key_to_average(q: Tensor) -> Tensor:
    """Return a third key with which q averages the first three values."""
    # TODO: 1.4.1 - a third key that joins the average.
    # <solution>
    del q
    return (K[0] + K[1]) / 2
    # </solution>


def output_with(make_key: Callable[[Tensor], Tensor]) -> Tensor:
    """Return what the query of 1.3.2 gives with a new third key."""
    q = average_two(K)
    return attention(q, with_third_key(make_key(q)), V)


error_1_4_1 = check("1.4.1", lambda: output_with(key_to_average), V[:3].mean(dim=0))

# %% [markdown]
# TODO: explain your key.
# <solution for later>
# The new key must score as $k_0$ and $k_1$ do. Their mean does: its score is the mean of theirs.
#
# **Where the usual answer is wrong.** "Set $k_2$ to the query" taken literally gives it the score
# $q \cdot q$, far above the others: it is selected (error 0.27 with $q = 10 (k_0 + k_1)$), not averaged.
# What is meant is the mean of the two keys without the scale.
# </solution>

# %% [markdown]
# **1.4.2** Replace $k_2$ so that the same query returns $v_2$, with a key of length 1.


# %%
def key_to_select(q: Tensor) -> Tensor:
    """Return a third key of length 1 with which q returns the third value."""
    # TODO: 1.4.2 - a third key of length 1 that is selected.
    # <solution>
    return q / q.norm()
    # </solution>


error_1_4_2 = check("1.4.2", lambda: output_with(key_to_select), V[2])

# %% [markdown]
# TODO: explain your key.
# <solution for later>
# Among keys of length 1 the one along the query has the highest score, $|q|$; no other does better. The
# others score $q \cdot k_0$, which is smaller because $k_0$ points elsewhere, and the softmax turns a lead
# into weight only if it is long enough. So whether this passes depends on the scale of $q$: with
# $5 (k_0 + k_1)$ the error is 0.118 and **no** key of length 1 passes; with $10 (k_0 + k_1)$ it is 0.031.
# The query above averages the two at any scale, so it can be as long as is needed here.
# </solution>

# %%
# TODO: try other queries that passed 1.3.2: does your key still pass?
# <solution for later>
for S in (5, 10):
    q = S * (K[0] + K[1])
    error = error_of(attention(q, with_third_key(q / q.norm()), V), V[2])
    print(f"q = {S}·(k0 + k1): error {error:.3f} with k2 = q/|q|")
# </solution>

# %% [markdown]
# **1.4.3** Why does $k_2$ matter to an output that looked at the first two tokens only? (2–4 sentences)
#
# TODO: your answer.
# <solution for later>
# No token is ever left out: softmax divides by the sum over all keys, and $k_2$ had a tiny weight
# because its score was low, not because it was not looked at. Its score depends on its own key alone,
# but all weights share one sum. Raise its score and it takes weight from the others. Attention to some
# tokens is therefore a property of all keys together, and a query that averages two tokens today may do
# something else as soon as another key changes.
# </solution>

# %% [markdown]
# ## A second opinion
#
# `attnlab attention solve` decides whether a query exists, gives it or a proof that there is none, and
# tries an answer on other keys too. S is a large number, `k0` … are the keys.


# %%
def ask(*words: str) -> None:
    """Print what attnlab says."""
    command = [sys.executable, "-m", "attnlab", "attention", "solve", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout or f"attnlab did not answer: {done.stderr}")


ask("--help")
# TODO: ask about your own answers, as in ask("select", "--token", "0", "--answer", "k0").
# <solution for later>
ask("average", "--subset", "0,1", "--answer", "10*(k0+k1)")
# </solution>

# %%
# TODO: ask about a key inside the hull: ask("select", "--example", "interior", "--token", "3").
# <solution for later>
ask("select", "--example", "interior", "--token", "3")
# </solution>

# %%
# TODO: ask about a new key of length 1; in its answer, q is the query.
# <solution for later>
ask("repair-key", "--subset", "2", "--unit", "--query", "5*(k0+k1)", "--answer", "q/norm(q)")
# </solution>
