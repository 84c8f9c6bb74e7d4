"""Where does the knowledge sit? Linear probes for the answer, layer by layer, at three places.

    name      Khatchig Mouradian                                 the last token of the name alone
    before    Khatchig Mouradian. … was born in                  the token before the answer
    end       Khatchig Mouradian. … was born in Aleppo. …        the end of the biography

The first is like the Q-probe of Allen-Zhu and Li (2023, arXiv:2309.14316), the others are like
their P-probes. There, a model that answers has the birthplace at the name; one that only completes
its text has it before the answer alone. Ours leave the embeddings as they are, and may find less.
Probes learn from the people of train and are tested on others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.console import Console
from torch import Tensor

from attnlab.data.entries import split_name
from attnlab.data.knowledge_files import Question, read_questions
from attnlab.errors import UserError
from attnlab.evaluation.accuracy import score_answers
from attnlab.evaluation.counterfactuals import names_asked
from attnlab.models.linear_probe import last_states, probe
from attnlab.phases import phase
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.saved import Saved, file_of, open_saved
from attnlab.recipes.knowledge.study_settings import LinearProbeSettings
from attnlab.recipes.knowledge.texts import question_splits
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference

SPLITS = ("train", "dev", "test")
PLACES = ("name", "before", "end")


class Person(NamedTuple):
    """Somebody who is written about: the question, and the texts that end at each place."""

    question: Question
    texts: Mapping[str, str]


def run_probe(job: str, settings: LinearProbeSettings, *, place: RunPlace, console: Console) -> Run:
    """Probe a run's model and leave a run with what the probes score."""
    need(settings.run, "a finished run whose model is to be probed")
    for split in SPLITS:
        need(getattr(settings, split), f"questions with answers in {split}")
    files = {split: Path(getattr(settings, split)) for split in SPLITS}
    asked = files | {"run": file_of(Path(settings.run))}
    if done := finished_run(job, settings, place=place, files=asked):
        return done
    saved = open_saved(Path(settings.run))
    inputs = Inputs(asked, saved.size.attention, saved.run)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        people = {split: _written_about(path, saved) for split, path in files.items()}
        lm = saved.load()
        session.hardware.place(lm.model)

        def work() -> None:
            with inference(lm.model, session.hardware):
                found = Probing(lm, people).probes()
            _close(session.run, people, found)

        session.processes.from_lead(work)
        return session.run


@dataclass(frozen=True)
class Probing:
    """A model, and the people whose answers are looked for in it."""

    lm: LanguageModel
    people: Mapping[str, Sequence[Person]]

    def probes(self) -> list[dict[str, Any]]:
        """Train a probe at every place and layer; each has its answers on test."""
        known = sorted({str(person.question.answer) for person in self.people["train"]})
        numbers = {answer: number for number, answer in enumerate(known)}
        classes = {
            # who was born where nobody of train was cannot be told
            split: torch.tensor([numbers.get(str(one.question.answer), -1) for one in people])
            for split, people in self.people.items()
        }
        found = []
        for place in PLACES:
            with phase(f"probing at the place {place!r}"):
                states = [self._states(split, place) for split in SPLITS]
                for layer, (train, dev, test) in enumerate(zip(*states, strict=True)):
                    probed = probe((train, dev, test), classes["train"], classes["dev"])
                    found.append(
                        {
                            "place": place,
                            "layer": layer,
                            "dev": float((probed.chosen_on == classes["dev"]).double().mean()),
                            "answers": [known[i] for i in probed.tested_on.tolist()],
                        }
                    )
        return found

    def _states(self, split: str, place: str) -> Tensor:
        encode, room = self.lm.tokenizer.encode, self.lm.model.max_len
        rows = [encode(person.texts[place])[:room] for person in self.people[split]]
        return last_states(self.lm.model, rows)


def _written_about(path: Path, saved: Saved) -> list[Person]:
    """Find the first biography of everybody in a file of questions; leave out who has none."""
    lines: dict[str, str] = {}
    for line in saved.corpus:
        lines.setdefault(split_name(line)[0], line)
    questions = read_questions(path, labelled=True)
    people = []
    for name, question in zip(names_asked([q.text for q in questions]), questions, strict=True):
        line = lines.get(name, "")
        start = line.find(str(question.answer), len(name))
        if start >= 0:
            before = line[:start].rstrip()
            people.append(Person(question, {"name": name, "before": before, "end": line}))
    if not people:
        raise UserError(
            f"{path}: the model has read nothing that gives an answer to these questions. Probe a"
            " run whose corpus has lines `Name. Text` about their people."
        )
    return people


def _close(
    run: Run, people: Mapping[str, Sequence[Person]], probes: Sequence[dict[str, Any]]
) -> None:
    """Score every probe on test."""
    questions = {split: [one.question for one in some] for split, some in people.items()}
    train, test = ([str(q.answer) for q in questions[split]] for split in ("train", "test"))
    for one in probes:
        one |= score_answers(test, one.pop("answers"), train_gold=train)
    close_run(run, {}, splits=question_splits(questions), linear_probes=probes)
