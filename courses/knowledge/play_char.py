# %% [markdown]
# # A character model to play with
#
# You train a small GPT that writes one character after the other, let it write, and then teach it to
# answer questions. It is all of the assignment in small: the same rows, the same loss, the same loop.
# The whole notebook runs in less than a minute on a laptop.
#
# You write four small functions. Until you have, the cells say what is still to do.

# %%
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.data.characters import CharacterTokenizer
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.decoding import continue_prompts, sampler
from attnlab.models.gpt import GPT

torch.manual_seed(0)
torch.set_num_threads(1)  # so small a model is fastest on one core
BLOCK = 64  # characters of a row, at most
PAD = 0  # the token that fills rows up


def attempt(work: Callable[[], None]) -> None:
    """Do something, or say what is still to do."""
    try:
        work()
    except NotImplementedError as error:
        print(f"still to do: {error}")


# %% [markdown]
# ## A text
#
# Made-up people, a few lines about each. Nobody's name tells where they were born: whoever wants to
# know has to have read it.

# %%
world = make_world(WorldSettings(people=40, biographies=2, sentences=1))
text = "\n".join(world.texts) + "\n"
questions = [(person.question, person.place) for person in world.train]
print(f"{len(text):,} characters in {len(world.texts)} lines, {len(questions)} questions")
print(*world.texts[:3], sep="\n")

# %% [markdown]
# A token is a character. Two are reserved: □ (token 0) fills rows up, ⁇ (token 1) ends a question and
# an answer.

# %%
tokenizer = CharacterTokenizer.of([text, *(question for question, _ in questions)])
tokens = torch.tensor(tokenizer.encode(text))
SENTINEL = tokenizer.sentinel
print(len(tokenizer), "tokens;", repr(tokenizer.decode(tokens[:30].tolist())))

# %% [markdown]
# ## What is read, what is predicted
#
# From a piece of text the model reads all but the last character. At each place it predicts the next
# one, so the targets are the same piece, one place further. For `Oslo` it reads `Osl` and should say
# `slo`.


# %%
def shifted(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return what is read and what is predicted, each (B, T), of rows that are (B, T + 1)."""
    # TODO: all but the last column, and all but the first.
    # <solution>
    return rows[:, :-1], rows[:, 1:]
    # </solution>


def draw_rows(count: int) -> Tensor:
    """Cut pieces of BLOCK + 1 characters out of the text, anywhere; given."""
    starts = torch.randint(len(tokens) - BLOCK, (count,))
    return torch.stack([tokens[start : start + BLOCK + 1] for start in starts.tolist()])


def show_a_row() -> None:
    """Print a row as it is read and as it is predicted."""
    x, y = shifted(draw_rows(1))
    print("x:", repr(tokenizer.decode(x[0].tolist())))
    print("y:", repr(tokenizer.decode(y[0].tolist())))


attempt(show_a_row)

# %% [markdown]
# ## The loss
#
# At each place the model gives a number (a logit) for every token. Cross-entropy is small where the
# right token got the largest. Where the target is □ there is nothing to learn: those places must not
# count, neither in the sum nor in the mean.


# %%
def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy; logits are (B, T, V), targets (B, T), PAD does not count."""
    # TODO: F.cross_entropy with ignore_index; it wants (B·T, V) and (B·T).
    # <solution>
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
    # </solution>


def try_the_loss() -> None:
    """Compare with the loss of somebody who knows nothing: the logarithm of the tokenizer."""
    targets = torch.tensor([[5, 7, PAD]])
    flat = loss_of(torch.zeros(1, 3, len(tokenizer)), targets)
    sure = torch.zeros(1, 3, len(tokenizer))
    sure[0, 0, 5] = sure[0, 1, 7] = 20.0
    print(f"knows nothing: {flat:.3f}; knows everything: {loss_of(sure, targets):.3f}")


attempt(try_the_loss)

# %% [markdown]
# ## Training
#
# The loop is the same for every model: rows, logits, loss, gradients, a step. The gradient is kept
# from becoming long, and Adam decides how far each weight goes. An untrained model has a loss near
# the logarithm of the tokenizer.


# %%
def train(model: GPT, examples: Callable[[], tuple[Tensor, Tensor]], *, steps: int) -> None:
    """Take some steps and print the loss now and then; given."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    model.train()
    for step in range(steps + 1):
        x, y = examples()
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % (steps // 5) == 0:
            print(f"step {step:4}: loss {loss.item():.3f}")
    model.eval()


model = GPT(len(tokenizer), BLOCK, d_model=64, n_heads=4, n_layers=2, dropout=0.0)
print(f"{sum(p.numel() for p in model.parameters()):,} weights")
attempt(lambda: train(model, lambda: shifted(draw_rows(16)), steps=250))

# %% [markdown]
# ## Let it write
#
# One character after the other, each drawn as often as the model finds it likely. A low temperature
# makes the likely ones likelier still.


# %%
def write_on(beginning: str, *, temperature: float) -> str:
    """Let the model go on from a beginning to the end of the line; given."""
    model.eval()
    choose = sampler(torch.Generator().manual_seed(0), temperature=temperature)
    prompt, stop = tokenizer.encode(beginning), tokenizer.encode("\n")[0]
    with torch.no_grad():
        (found,) = continue_prompts(
            model, [prompt], stop=stop, max_new=BLOCK - len(prompt), choose=choose
        )
    return beginning + tokenizer.decode(found.tokens)


for temperature in (0.3, 1.0):
    print(f"temperature {temperature}: {write_on(world.train[0].name, temperature=temperature)!r}")

# %% [markdown]
# ## From text to questions
#
# A question becomes a row as well: `question⁇answer⁇`, filled up with □. The model reads it like any
# text, but it should learn the answer, not to ask: in the targets every character of the question is
# □. The first ⁇ stays. As before, the targets stand one place further left:
#
# | | |
# |---|---|
# | read | `Where?⁇Oslo⁇□□` |
# | predicted | `□□□□□⁇Oslo⁇□□□` |
#
# In the assignment `NameDataset` in `src/dataset.py` makes these rows.


# %%
def question_row(question: str, answer: str) -> tuple[list[int], list[int]]:
    """Return what is read and what is predicted, BLOCK tokens each."""
    asked = tokenizer.encode(question)
    row = [*asked, SENTINEL, *tokenizer.encode(answer), SENTINEL]
    row = row + [PAD] * (BLOCK + 1 - len(row))
    # TODO: what is read, and what is predicted: PAD for the question's characters, then the rest.
    # <solution>
    return row[:-1], [PAD] * (len(asked) - 1) + row[len(asked) :]
    # </solution>


def show_a_question() -> None:
    """Print a question's row, without most of what fills it up."""
    for name, row in zip("xy", question_row(*questions[0]), strict=True):
        print(f"{name}: {tokenizer.decode(row)}")


attempt(show_a_question)

# %% [markdown]
# ## Finetuning
#
# The loop stays as it is; only the rows are others. The model that has read the text goes on learning
# with the questions of some people, and is then asked about them and about others.


# %%
def draw_questions(count: int) -> tuple[Tensor, Tensor]:
    """Return rows of some questions, (count, BLOCK) each."""
    # TODO: choose some of `questions` at random, make their rows, return two tensors.
    # <solution>
    chosen = torch.randint(len(questions), (count,)).tolist()
    rows = [question_row(*questions[index]) for index in chosen]
    return torch.tensor([x for x, _ in rows]), torch.tensor([y for _, y in rows])
    # </solution>


def answers(asked: list[str]) -> list[str]:
    """Let the model write what it finds likeliest after the mark; given."""
    prompts = [[*tokenizer.encode(question), SENTINEL] for question in asked]
    room = BLOCK - max(len(prompt) for prompt in prompts)
    with torch.no_grad():
        found = continue_prompts(model, prompts, stop=SENTINEL, max_new=min(room, 20))
    return [tokenizer.decode(answer.tokens) for answer in found]


def finetune_and_ask() -> None:
    """Finetune, then ask those who were asked before, and others."""
    train(model, lambda: draw_questions(16), steps=60)
    for name, people in (("trained on", world.train), ("never asked", world.dev)):
        said = answers([person.question for person in people])
        right = sum(a == person.place for a, person in zip(said, people, strict=True))
        print(f"{name}: {right} of {len(people)} right, e.g. {people[0].question} {said[0]}")


attempt(finetune_and_ask)

# %% [markdown]
# It knows the answers that it was trained on. About the others it has read too, but so little that it
# can hardly say what it read: that takes the larger model, the longer text and the span corruption of
# the assignment. Compare your numbers with those of `attnlab knowledge demo`, where it works.
