"""An encoder from scratch: BERT with any attention learns to fill in masked characters."""

from pathlib import Path

import torch
from rich.console import Console

from attnlab.checks.cost import peak_bytes
from attnlab.errors import UserError
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.models.bert import BertForMaskedLanguageModel
from attnlab.models.classification import MASKED, masked_loss
from attnlab.models.fill_in import FillIn
from attnlab.models.sizes import BertSize, ModelSettings
from attnlab.randomness import seed_torch
from attnlab.recipes.attention.masked_text import MaskedText
from attnlab.recipes.attention.settings import FillInSettings
from attnlab.recipes.closing import LAST_STEP, Splits, close_run
from attnlab.recipes.files import need
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import Session


def run_fill_in(job: str, settings: FillInSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the text and leave the run with its record; resumes by itself."""
    need(settings.corpus, "a text to learn from: set corpus")
    if settings.training.patience:
        raise UserError(
            f"training.patience = {settings.training.patience}: nothing is held out to choose a"
            " step by. Leave it out."
        )
    inputs = Inputs({"corpus": Path(settings.corpus)}, settings.model.attention)
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    with open_run(job, settings, inputs, place=place, console=console) as session:
        masked = MaskedText.of(settings)
        seed_torch(settings.training.seed, "weights")
        model = encoder_of(settings.model, vocab_size=len(masked.tokenizer), max_len=settings.block)
        task = FillIn(model, masked.stream(), evaluate=lambda: masked.evaluation(model))
        state = train(task, settings.training, session)
        session.processes.from_lead(lambda: _close(task, masked, state, session))
        return session.run


def encoder_of(
    model: ModelSettings, *, vocab_size: int, max_len: int
) -> BertForMaskedLanguageModel:
    """Build a BERT of the size of a GPT; both of its texts are one, so that it has one type."""
    size = BertSize(
        vocab_size,
        model.d_model,
        model.n_heads,
        model.n_layers,
        d_mlp=4 * model.d_model,
        max_len=max_len,
        n_types=1,
        dropout=model.dropout,
        attention_dropout=model.dropout,
    )
    return BertForMaskedLanguageModel(size, attention=model.attention)


def _close(task: FillIn, masked: MaskedText, state: TrainingState, session: Session) -> None:
    model = task.model
    batch = task.batch(1).streams[MASKED].to(next(model.parameters()).device)

    def work() -> None:
        with session.hardware.autocast():
            loss = masked_loss(model, batch)
        torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)

    examined = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "step_bytes": peak_bytes(work),
    }
    with inference(model, session.hardware):
        read = masked.predictions(model)
    rows = [{"text": row["input"]} for row in read]
    close_run(
        session.run,
        {SPLIT: read},
        splits=Splits({SPLIT: rows}, inputs=["text"]),
        scores={SPLIT: masked.score(read)},
        examined=examined,
        steps_per_epoch=task.steps_in(1, "epochs"),
        **state.summary(),
        chosen_on=LAST_STEP,
    )
