"""The grader passes what is right, and fails every known mistake by its name."""

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from course_files import COURSE, ROOT, exit_code, load
from graded import assert_costs_only
from grading import sandbox
from grading.knowledge import (
    baseline,
    chance,
    corruption,
    examples,
    mutants,
    predictions,
    probe,
    submissions,
    synthesizer,
)

from attnlab.data.objectives.span_corruption import corrupt
from attnlab.errors import UserError

SMALL = (37,)
"""One block is enough for a bug; the whole grader takes two."""
Grade = Callable[..., tuple[int, str, str]]


def grade_dataset(build: Any) -> Any:
    """Grade a data set in this process: it is one of ours."""
    asked = corruption.request(blocks=SMALL, few=10, many=1000)
    return corruption.grade(probe.draws_of(build, asked), blocks=SMALL)


def grade_attention(build: Any) -> list[Any]:
    found: list[Any] = synthesizer.grade(probe.outputs_of(build, synthesizer.request()))
    return found


def failed(findings: list[Any]) -> tuple[str, ...]:
    return tuple(finding.check for finding in findings if finding.passed is False)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", mutants.DATASETS, ids=lambda mutant: mutant.name)
def test_a_wrong_data_set_fails_the_checks_that_name_its_bug(mutant: Any) -> None:
    part = grade_dataset(mutants.dataset_with(mutant.steps))
    assert failed(part.findings) == mutant.fails
    assert part.points < part.of


@pytest.mark.parametrize("mutant", mutants.ATTENTIONS, ids=lambda mutant: mutant.name)
def test_a_wrong_attention_fails_the_checks_that_name_its_bug(mutant: Any) -> None:
    assert failed(grade_attention(mutants.attention_with(mutant.steps))) == mutant.fails


def test_every_check_has_a_bug_that_it_must_catch() -> None:
    parts = (
        (grade_dataset(mutants.dataset_with({})).findings, mutants.DATASETS),
        (grade_attention(mutants.attention_with({})), mutants.ATTENTIONS),
    )
    for findings, known in parts:
        caught = {check for mutant in known for check in mutant.fails}
        assert caught == {finding.check for finding in findings}


def a_third_mark(self: Any, prefix: list[int], span: list[int], suffix: list[int]) -> list[int]:
    return [*prefix, self.sentinel, *suffix, self.sentinel, *span, self.sentinel]


def an_eighth_to_three_eighths(_: Any, cut: list[int], __: list[int], rng: Any) -> int:
    n = len(cut)
    return int(rng.integers(max(1, n // 8), n * 3 // 8 + 1)) if n > 3 else n


RIGHT_DATASETS = {
    "ours": load("src/dataset.py").CharCorruptionDataset,
    "by hand": mutants.dataset_with({}),
    "three marks": mutants.dataset_with({"row": a_third_mark}),
    "as long as the block": mutants.dataset_with(
        {"padded": lambda self, row: row + [0] * (self.block_size + 1 - len(row))}
    ),
    "an eighth to three eighths": mutants.dataset_with({"span_size": an_eighth_to_three_eighths}),
}


@pytest.mark.parametrize("name", RIGHT_DATASETS)
def test_every_right_reading_of_the_corruption_passes(name: str) -> None:
    part = grade_dataset(RIGHT_DATASETS[name])
    assert [finding.check for finding in part.findings if finding.passed is not True] == []
    assert part.points == part.of == 10


def attention_of_shapes(steps: Any = MappingProxyType({}), **shapes: tuple[int, ...]) -> Any:
    """Return an attention whose parameters have other shapes than ours."""

    class SynthesizerAttention(mutants.attention_with(steps)):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            for name, shape in shapes.items():
                setattr(self, name, torch.nn.Parameter(torch.zeros(shape)))

    return SynthesizerAttention


H, K, BLOCK = synthesizer.HEADS, synthesizer.WIDTH // synthesizer.HEADS, synthesizer.BLOCK
IN_FLOAT32 = {
    "scores": lambda self, h: h.float() @ self.w2[:, : h.shape[-2]] + self.b2[: h.shape[-2]]
}
RIGHT_ATTENTIONS = {
    "ours": load("src/attention.py").SynthesizerAttention,
    "by hand": mutants.attention_with({}),
    "one B per head": attention_of_shapes(w2=(H, K, BLOCK - 1)),
    "one B and b2 per head": attention_of_shapes(w2=(H, K, BLOCK - 1), b2=(H, 1, BLOCK - 1)),
    "rows of a block": attention_of_shapes(w2=(K, BLOCK), b2=(BLOCK,)),
    "float32": mutants.attention_with(IN_FLOAT32),
}


@pytest.mark.parametrize("name", RIGHT_ATTENTIONS)
def test_every_right_reading_of_the_synthesizer_passes(name: str) -> None:
    findings = grade_attention(RIGHT_ATTENTIONS[name])
    assert [finding for finding in findings if finding.passed is not True] == []
    assert findings[0].seen.endswith("float32" if name == "float32" else "float64")


def test_a_division_of_the_scores_is_named() -> None:
    (mutant,) = [mutant for mutant in mutants.ATTENTIONS if mutant.name == "scores divided"]
    _, equal, *_ = grade_attention(mutants.attention_with(mutant.steps))
    assert equal.seen.endswith("the scores are divided by √(d/h)")


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"b2": (1, 3)}, "b2 has shape (1, 3), w2 (4, 7)"),
        ({"w2": (12, 7)}, "w2 has shape (12, 7) at width"),
    ],
)
def test_parameters_of_another_shape_are_reported(
    shapes: dict[str, tuple[int, ...]], message: str
) -> None:
    needs_neither = {"scores": lambda _, hidden: hidden @ hidden.mT}
    runs, *rest = grade_attention(attention_of_shapes(needs_neither, **shapes))
    assert runs.passed is False
    assert message in runs.seen
    assert all(finding.passed is None for finding in rest)


def drawn(seed: int, block: int, many: int) -> Any:
    """Draw from the last document at once, as the data set would one by one."""
    document = list(range(2, 2 + corruption.LENGTHS[-1]))
    rows = corrupt([document] * many, np.random.default_rng(seed), block=block, sentinel=1)
    filled = np.zeros((many, block), dtype=np.int64)
    for line, row in zip(filled, rows, strict=True):
        line[: len(row)] = row
    codes = np.where(filled > 1, filled - 2, np.where(filled == 1, -2, -1))
    return examples.Draws(block, len(document), codes[:, :-1], codes[:, 1:])


def runs_that_fail(seeds: range, many: int = corruption.MANY) -> list[int]:
    bad = []
    for seed in seeds:
        draws = [drawn(seed, block, many) for block in corruption.BLOCKS]
        findings = chance.grade(draws, corruption.LENGTHS[-1], readable=True)
        if failed(findings):
            bad.append(seed)
        assert chance.false_failure(draws, corruption.LENGTHS[-1]) < 1e-6
    return bad


def test_other_seeds_do_not_fail_what_is_right() -> None:
    """The bound is below 1e-6 a run."""
    assert runs_that_fail(range(6)) == []


@pytest.mark.slow
def test_two_hundred_other_seeds_do_not_fail_what_is_right() -> None:
    assert runs_that_fail(range(6, 206)) == []


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission of ours, with predictions of which three quarters are right."""
    folder = tmp_path_factory.mktemp("right") / "ada"
    shutil.copytree(COURSE / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    submissions.right(folder)
    (folder.parent / "labels.tsv").write_text(submissions.labels_file(), encoding="utf-8")
    return folder


@pytest.fixture
def grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Grade:
    """Return what runs `python grade.py WORDS`, with fewer draws."""
    monkeypatch.chdir(tmp_path)
    main = load("grade.py")
    fewer = corruption.request(few=10, many=1500)
    monkeypatch.setattr(main.corruption, "request", lambda seed: fewer | {"seed": seed})

    def go(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grade.py", *map(str, words)])
        return exit_code(main), *capsys.readouterr()

    return go


@pytest.fixture(scope="module")
def answers_of_ours(right: Path) -> dict[bytes, Any]:
    """What the probes say of our files, asked once."""
    return {
        (right / "src" / name).read_bytes(): sandbox.ask(
            probe, right / "src" / name, request, sandbox.Limits()
        )
        for name, request in (
            ("dataset.py", corruption.request(few=10, many=1500)),
            ("attention.py", synthesizer.request()),
            ("london_baseline.py", baseline.request()),
        )
    }


@pytest.fixture
def asked_once(answers_of_ours: dict[bytes, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let our own files not be run again; any other is."""
    ask = sandbox.ask

    def ask_once(where: ModuleType, file: Path, *rest: Any) -> Any:
        known = answers_of_ours.get(file.read_bytes() if file.is_file() else b"")
        return known or ask(where, file, *rest)

    monkeypatch.setattr(sandbox, "ask", ask_once)


@pytest.mark.usefixtures("asked_once")
def test_a_right_submission_gets_every_point(right: Path, grade: Grade) -> None:
    with zipfile.ZipFile("assignment_ada.zip", "w") as packed:
        for file in right.rglob("*"):
            packed.write(file, file.relative_to(right.parent))
    code, out, error = grade(
        "assignment_ada.zip", "--labels", right.parent / "labels.tsv", "--json"
    )
    (report,) = json.loads(out)
    failed = [f for part in report["parts"] for f in part["findings"] if not f["passed"]]
    assert (code, error, failed) == (0, "", [])
    assert (report["student"], report["points"], report["of"]) == ("ada", 33.0, 33.0)
    assert {p["name"]: p["points"] for p in report["parts"]} == {
        "2(d)": 5, "2(e)": 10, "2(f)": 10, "2(g)i": 8,
    }  # fmt: skip
    _, corrupted, pretrained, _ = report["parts"]
    assert "a right data set fails by chance below " in corrupted["notes"][0]
    assert pretrained["findings"][0]["seen"].startswith("30 of 40 right, 75.0%, 95 % interval 59.8")
    assert pretrained["notes"] == ["always London gives 20.0%, which reaches the 10.0% asked for."]
    assert Path("grades/grades.csv").read_text().splitlines()[1] == "ada,5,10,10,8,33,33,"


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize(
    "mistake", [*submissions.FILES, *submissions.CODE], ids=lambda mistake: mistake.name
)
def test_a_usual_mistake_is_caught_by_name_and_costs_nothing_else(
    mistake: Any, right: Path, grade: Grade, tmp_path: Path
) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(right, folder)
    mistake.make(folder)
    _, out, _ = grade(folder, "--labels", right.parent / "labels.tsv", "--json")
    (report,) = json.loads(out)
    assert_costs_only(report, mistake)


@pytest.mark.slow
def test_a_handout_is_graded_at_0_with_what_to_do_and_at_full_points_with_our_solutions(
    right: Path, grade: Grade, tmp_path: Path
) -> None:
    folder, labels = tmp_path / "cleo", right.parent / "labels.tsv"
    load("handout.py", course=ROOT / "courses").write(COURSE, folder)
    code, out, _ = grade(folder, "--labels", labels)
    assert code == 0
    assert "cleo: 0 of 33 points (2(d) 0; 2(e) 0; 2(f) 0; 2(g)i 0)" in out
    for said in (
        "dev.predictions: it is missing. Write [part c], src/run.py: make the GPTConfig of a vanil",
        "London baseline: not written yet: [part d], src/london_baseline.py: print how many",
        "runs: not written yet: [part e], src/dataset.py: write CharCorruptionDataset.__getitem__",
        "vanilla.pretrain.test.predictions: it is missing. Write [part c]",
        "runs: not written yet: [part g], src/attention.py: write SynthesizerAttention.forward",
    ):
        assert said in out
    shutil.copytree(right, folder, dirs_exist_ok=True)
    assert "cleo: 33 of 33 points" in grade(folder, "--labels", labels)[1]


@pytest.mark.usefixtures("asked_once")
def test_without_labels_what_needs_them_is_not_graded(right: Path, grade: Grade) -> None:
    code, out, _ = grade(right)
    assert code == 0
    assert "2(f) pretrained: not graded" in out
    assert "not judged  vanilla.pretrain.test.predictions: give the answers with --labels" in out
    assert "ada: 15 of 15 points (2(d) 5; 2(e) 10; 2(f) –; 2(g)i –)" in out
    assert "by hand: 2(g)ii, 2 points" in out
    row = Path("grades/grades.csv").read_text().splitlines()[1]
    assert row.startswith("ada,5,10,,,15,15,2(f) vanilla.pretrain.test.predictions: give the")


@pytest.mark.usefixtures("asked_once")
def test_thresholds_are_flags(right: Path, grade: Grade) -> None:
    words = [right, "--labels", right.parent / "labels.tsv"]
    _, out, _ = grade(*words, "--vanilla-accuracy", "0.8", "--synthesizer-accuracy", "0.75")
    assert "ada: 23 of 33 points (2(d) 5; 2(e) 10; 2(f) 0; 2(g)i 8)" in out
    assert "FAILED      vanilla.pretrain.test.predictions: 30 of 40 right, 75.0%" in out


def test_what_is_not_run_says_why(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "ask", lambda *_: ({"fatal": "it is broken"}, {}))
    lines = grade(COURSE)[1].splitlines()
    assert lines[4] == "2(e) span corruption: 0 of 10 points (12 checks, each 0.83)"
    assert lines[5].startswith("  FAILED      runs: it is broken (wanted: src/dataset.py builds")
    assert "knowledge: 0 of 33 points" in lines[-3]


@pytest.mark.parametrize("printed", ["Accuracy: 0.175", "17.5 %", "14.0 out of 80.0: 17.5%\n"])
def test_the_score_of_london_is_found_however_it_is_printed(printed: str) -> None:
    assert baseline.grade(({"printed": printed}, {})).passed is True
    assert (
        baseline.grade(({"printed": printed.replace("175", "18").replace("17", "18")}, {})).passed
        is False
    )


def test_weights_that_would_run_code_are_not_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    torch.save({"w2": Trap()}, tmp_path / predictions.PARAMS)
    finding = predictions.grade_params(tmp_path)
    assert finding.passed is False
    assert finding.seen.startswith("cannot be read as weights: ")
    assert not (tmp_path / "sprung").exists()


def test_exactly_what_london_gives_passes_if_something_else_is_known() -> None:
    labels = ["London", "London", "Lima", "Oslo"]
    assert predictions.collapse(labels, ["Rome", "London", "Lima", "Rome"]) is None
    said = predictions.collapse(labels, ["London", "London", "London", "Rome"])
    assert said == (
        "it did not learn: it answers 'London' to 3 of 4 questions, and none of its 2 right"
        " answers is another"
    )


def test_labels_without_answers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inputs.tsv").write_text("Where was A born?\n")
    with pytest.raises(UserError, match=r"inputs\.tsv, line 1: .* must be a question, a tab and"):
        predictions.read_labels(tmp_path / "inputs.tsv")
