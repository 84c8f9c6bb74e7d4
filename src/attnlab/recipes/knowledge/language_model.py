"""A model with its tokenizer: how it trains on a question, how it answers one, its file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.checks.leakage import Leak, model_leak, refuse_undeclared
from attnlab.config import from_dict, to_dict
from attnlab.data.batches import TokenRow, answer_row
from attnlab.data.header import short
from attnlab.data.knowledge_files import Question
from attnlab.data.tokenizer import Tokenizer, load_tokenizer
from attnlab.errors import DamagedFileError, UserError
from attnlab.models.course_format import read_params
from attnlab.models.decoding import continue_prompts, sampler
from attnlab.models.gpt import GPT
from attnlab.models.next_token import row_losses
from attnlab.models.parameter_counts import gpt_parameters, need_memory_for
from attnlab.models.sizes import ModelSettings, NGramTableSize
from attnlab.phases import phase
from attnlab.randomness import seed_torch
from attnlab.recipes.knowledge.settings import LanguageModelSettings
from attnlab.registry import telling_the_line
from attnlab.runs.directory import Run
from attnlab.runs.files import parse_object, replace_file, to_json
from attnlab.runs.manifest import read_sealed
from attnlab.runs.model_kind import LANGUAGE_MODEL_FILE
from attnlab.runs.predictions import prediction_row
from attnlab.training.checkpoint import Checkpoints, frozen_sha256, load_model_tensors
from attnlab.tuning.settings import FULL, TuningSettings
from attnlab.tuning.tuned import apply_tuning

LONGEST_ANSWER = 32
"""Tokens that an answer may have; the course's code stops there too."""
BLOCK = 128
"""Tokens that a question and its answer may have together."""
ASKED_AT_ONCE = 512
FILE = LANGUAGE_MODEL_FILE


@dataclass(frozen=True)
class LanguageModel:
    """Reads, and answers questions."""

    model: GPT
    tokenizer: Tokenizer
    size: ModelSettings

    def row(self, question: Question, *, is_read_only: bool = False) -> TokenRow:
        """The question with its answer, which alone is scored."""
        assert question.answer is not None, question.place
        with _telling(question):
            answer = [*self.tokenizer.encode(question.answer), self.tokenizer.sentinel]
        if len(answer) > LONGEST_ANSWER:
            raise UserError(
                f"{question.place}: the answer {short(question.answer)} has {len(answer)} tokens"
                f" with its end mark; at most {LONGEST_ANSWER} are allowed."
            )
        return answer_row(question.text, self.prompt(question), answer, is_read_only=is_read_only)

    def prompt(self, question: Question) -> list[int]:
        """The question, up to the sentinel that the answer follows."""
        with _telling(question):
            tokens = [*self.tokenizer.encode(question.text), self.tokenizer.sentinel]
        room = self.model.max_len - LONGEST_ANSWER
        if len(tokens) > room:
            raise UserError(
                f"{question.place}: {short(question.text)} has {len(tokens)} tokens, but the"
                f" model has room for {room} before the answer. Ask a shorter question."
            )
        return tokens

    def has_room_for(self, question: Question) -> bool:
        """Say whether a question, with its answer if it has one, can be read and written."""
        try:
            check_questions(self, [question])
        except UserError:
            return False
        return True

    def ask(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Return the answers with their probability, and the loss where the truth is known."""
        asked = [questions[i : i + ASKED_AT_ONCE] for i in range(0, len(questions), ASKED_AT_ONCE)]
        return [answer for some in asked for answer in self._ask(some)]

    def sample(
        self, questions: Sequence[Question], *, count: int, seed: int
    ) -> list[list[tuple[str, float]]]:
        """Sample answers to every question, each with its probability."""
        generator = torch.Generator().manual_seed(seed)
        drawn = continue_prompts(
            self.model,
            [self.prompt(question) for question in questions for _ in range(count)],
            stop=self.tokenizer.sentinel,
            max_new=LONGEST_ANSWER,
            choose=sampler(generator),
        )
        texts = [(self.tokenizer.decode(tokens), likely) for tokens, likely in drawn]
        return [texts[i : i + count] for i in range(0, len(texts), count)]

    def known_ngrams(self, question: Question) -> float | None:
        """Return the share of a question's n-grams that the table knows; None without a table."""
        table = self.model.ngram_table
        if table is None:
            return None
        return float(table.known(torch.tensor([self.prompt(question)], device=table.device)))

    @phase("checking that the model sees no future")
    def leak(self, rows: Sequence[Sequence[int]], *, seconds: float) -> Leak:
        """Measure what the model sees of the future; refuse one that does not say it does."""
        length = min(map(len, rows))
        tokens = torch.tensor([list(row[:length]) for row in rows])
        device = next(self.model.parameters()).device
        with telling_the_line(self.size.attention.name):
            leak = model_leak(self.model, tokens.to(device), seconds=seconds)
        refuse_undeclared(leak, self.model)
        return leak

    def save(self, run: Run) -> None:
        """Save, alongside the weights, the tokenizer and the size of the model."""
        saved = {
            "tokenizer": self.tokenizer.to_dict(),
            "model": to_dict(self.size),
            "max_len": self.model.max_len,
        }
        replace_file(run.path / FILE, to_json(saved))

    def _ask(self, questions: Sequence[Question]) -> Iterator[dict[str, Any]]:
        continuations = continue_prompts(
            self.model,
            [self.prompt(question) for question in questions],
            stop=self.tokenizer.sentinel,
            max_new=LONGEST_ANSWER,
        )
        known = [self.row(question) for question in questions if question.answer is not None]
        losses = iter(row_losses(self.model, known) if known else ())
        tokens = (sum(row.scored or ()) for row in known)
        for question, continuation in zip(questions, continuations, strict=True):
            yield prediction_row(
                question.text,
                question.text,
                gold=question.answer,
                prediction=self.tokenizer.decode(continuation.tokens),
                confidence=continuation.probability,
                **(
                    {}
                    if question.answer is None
                    else {"loss": next(losses), "tokens": next(tokens)}
                ),
            )


def new_language_model(
    size: ModelSettings, tokenizer: Tokenizer, *, max_len: int, seed: int
) -> LanguageModel:
    """Make a model with new weights."""
    seed_torch(seed, "weights")
    return LanguageModel(GPT(len(tokenizer), max_len, **vars(size)), tokenizer, size)


@phase("loading the model")
def load_language_model(run: Run) -> LanguageModel:
    """Make the model of a finished run again."""
    tuning = from_dict(TuningSettings, run.config["settings"].get("tuning", {}), origin=run.name)
    if tuning.name != FULL:
        return _load_tuned(run, tuning)
    size, saved = saved_size(run), _saved(run)
    try:
        tokenizer, max_len = load_tokenizer(saved["tokenizer"]), int(saved["max_len"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"{run.path / FILE} is damaged: {error!r}.") from None
    parameters = gpt_parameters(size, vocab_size=len(tokenizer), max_len=max_len)
    need_memory_for(parameters, trains=False, origin=str(run.path / FILE))
    lm = new_language_model(size, tokenizer, max_len=max_len, seed=0)
    tensors = _checkpoints(run).load_model(_last_step(run))
    _take_precision(lm, tensors)
    load_model_tensors(lm.model, tensors)
    return lm


def _load_tuned(run: Run, tuning: TuningSettings) -> LanguageModel:
    """Load the model that a run started from, and put in what the run has trained of it."""
    start = Path(run.setting("start"))
    if not start.is_dir():
        raise UserError(
            f"{run.path} keeps only what tuning {tuning.name!r} has trained. The rest is in the run"
            f" {start}, which is missing: restore it."
        )
    lm = load_language_model(Run.open(start))
    apply_tuning(lm.model, tuning, seed=0)
    checkpoint = _checkpoints(run).load(_last_step(run))
    _take_precision(lm, checkpoint.model)
    if checkpoint.state.get("frozen_sha256") != frozen_sha256(lm.model):
        raise DamagedFileError(
            f"{run.path} was trained on another model than {start} holds now: the frozen"
            " parameters differ. Restore the run that it started from."
        )
    load_model_tensors(lm.model, checkpoint.model)
    return lm


def _take_precision(lm: LanguageModel, tensors: Mapping[str, Tensor]) -> None:
    """Make room for weights in double precision, which reading them would round."""
    if any(tensor.dtype == torch.float64 for tensor in tensors.values()):
        lm.model.double()


def _checkpoints(run: Run) -> Checkpoints:
    return Checkpoints(run.path / "checkpoints", keep_last=1)


def _last_step(run: Run) -> int:
    """Return the step whose weights are the run's model."""
    return int(run.record.get("best_step") or run.recorded("steps"))


def language_model_of_params(
    path: Path, tokenizer: Tokenizer, *, dropout: float = 0.0
) -> LanguageModel:
    """Read one of the course's files, which say nothing about their characters."""
    model, size = read_params(path, dropout=dropout)
    if model.tok_emb.num_embeddings != len(tokenizer):
        raise UserError(
            f"{path} knows {model.tok_emb.num_embeddings} tokens, but the corpus has"
            f" {len(tokenizer)} with the two reserved ones. Give the corpus it was trained on."
        )
    return LanguageModel(model, tokenizer, size)


def saved_size(run: Run) -> ModelSettings:
    """Return the size of a finished run's model."""
    if not run.finished or not (run.path / FILE).exists():
        raise UserError(
            f"{run.path} is not a finished run of knowledge pretrain or finetune, so it has no"
            " model to load."
        )
    values = _saved(run).get("model")
    if not isinstance(values, dict):
        raise DamagedFileError(f"{run.path / FILE} is damaged: it has no size of the model.")
    return from_dict(ModelSettings, values, origin=str(run.path / FILE))


def need_memory_to_train(size: ModelSettings, tokenizer: Tokenizer, *, max_len: int) -> None:
    """Refuse a model that cannot be trained in this memory, once its tokens are known."""
    parameters = gpt_parameters(size, vocab_size=len(tokenizer), max_len=max_len)
    need_memory_for(parameters, trains=True, origin="model")


def refuse_too_large(settings: LanguageModelSettings) -> None:
    """Refuse, before a run begins, a new model that cannot be trained in this memory.

    Its characters, and rows longer than usual, are not known yet.
    """
    pieces = settings.tokenizer.size if settings.tokenizer.kind == "byte_pairs" else 0
    parameters = gpt_parameters(settings.model, vocab_size=pieces, max_len=BLOCK)
    need_memory_for(parameters, trains=True, origin="model")


def refuse_impossible(size: ModelSettings) -> None:
    """Refuse, before a run begins, a model whose layers cannot be built, by building one."""
    GPT(1, BLOCK, **vars(replace(size, n_layers=1, ngram_table=NGramTableSize())))


def _saved(run: Run) -> dict[str, Any]:
    return parse_object(read_sealed(run.path / FILE), run.path / FILE)


def check_questions(lm: LanguageModel, questions: Iterable[Question]) -> None:
    """Refuse, before anything is learned, what the tokenizer or the model has no room for."""
    for question in questions:
        lm.prompt(question)
        if question.answer is not None:
            lm.row(question)


@contextmanager
def _telling(question: Question) -> Iterator[None]:
    """Name the file and line that a tokenizer cannot read."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{question.place}: {error}") from None
