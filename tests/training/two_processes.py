"""Run by torchrun from test_distributed.py: train the toy, then let the lead fail."""

import json
import sys
from pathlib import Path

from safetensors.torch import save_file
from test_distributed import SETTINGS
from torch import nn
from toy import BATCH, ToyTask, toy_session

from attnlab.errors import AttnlabError, UserError
from attnlab.training.distributed import join_processes
from attnlab.training.loop import train
from attnlab.training.step import NonFiniteError


def fail() -> None:
    raise UserError("the lead refuses")


with join_processes():  # once for all the sessions below
    folder = Path(sys.argv[1])
    task = ToyTask(dropout=0.3, sparse=True)
    errors = []
    with toy_session(folder, SETTINGS) as session:
        train(task, SETTINGS, session)
        rank = session.processes.rank
        save_file(dict(task.model.named_parameters()), folder / f"weights-{rank}.safetensors")
        try:
            session.processes.from_lead(fail)
        except AttnlabError as error:
            errors.append([str(error), error.exit_code])
    for rows in (1, 2):  # one process has no row at all, or a table that nobody looks at
        small = ToyTask(sparse=True)
        small.batch = lambda step, rows=rows: ToyTask().batch(step).part(0, BATCH // rows)  # type: ignore[method-assign,misc]
        small.model.extra = nn.Embedding(3, 2, sparse=True)
        with toy_session(folder, SETTINGS, name=f"small-{rows}") as session:
            train(small, SETTINGS, session)
        save_file(dict(small.model.named_parameters()), folder / f"small-{rows}-{rank}.safetensors")
    with toy_session(folder, SETTINGS, name="poisoned") as session:
        row = task.batch(1).ids[-1]  # stands in the part of the second process
        try:
            train(ToyTask(poison={row: "loss"}), SETTINGS, session)
        except NonFiniteError as error:
            errors.append([str(error), error.exit_code])
    (folder / f"errors-{rank}.json").write_text(json.dumps(errors))
