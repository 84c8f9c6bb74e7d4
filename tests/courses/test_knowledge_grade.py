"""The grader passes what is right, fails every known bug by its name, and survives everything."""

import json
import os
import shutil
import zipfile
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from course_files import COURSE, grading, load

from attnlab.data.objectives.span_corruption import corrupt
from attnlab.errors import UserError

chance, corruption, examples, mutants, predictions, probe, sandbox, submission, synthesizer = (
    grading(name)
    for name in (
        "chance", "corruption", "examples", "mutants", "predictions", "probe", "sandbox",
        "submission", "synthesizer",
    )
)  # fmt: skip
SMALL = (37,)
"""One block is enough for a bug; the whole grader takes two."""
LABELS = "".join(f"Where was {i} born?\t{'London' if i < 2 else 'Lima'}\n" for i in range(40))


def grade_dataset(build: Any) -> Any:
    """Grade a data set in this process: it is one of ours."""
    asked = corruption.request(blocks=SMALL, few=10, many=1000)
    return corruption.grade(probe.draws_of(build, asked), blocks=SMALL)


def grade_attention(build: Any) -> list[Any]:
    found: list[Any] = synthesizer.grade(probe.outputs_of(build, synthesizer.request()))
    return found


def failed(findings: list[Any]) -> tuple[str, ...]:
    return tuple(finding.check for finding in findings if finding.passed is False)


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


def test_a_program_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "dataset.py"
    file.write_text("while True:\n    pass\n")
    part = corruption.grade(sandbox.ask(file, corruption.request(), seconds=1))
    assert part.findings[0].seen == "it took longer than 1 seconds and was stopped"
    assert part.points == 0
    assert all(finding.passed is None for finding in part.findings[1:])


def test_a_program_that_leaves_without_an_answer_is_reported(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "attention.py"
    file.write_text("import os, sys\nprint('bye', file=sys.stderr, flush=True)\nos._exit(7)\n")
    runs, *_ = synthesizer.grade(sandbox.ask(file, synthesizer.request(), seconds=600))
    assert runs.seen == "it ended with exit code 7 and gave no answer: bye"
    missing = sandbox.ask(tmp_path / "src" / "dataset.py", {}, seconds=1)
    assert missing == ({"fatal": "there is no src/dataset.py"}, {})


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole submission of ours as a zip, with predictions that are half right."""
    folder = tmp_path_factory.mktemp("submission")
    shutil.copytree(COURSE / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / predictions.SYNTHESIZER).write_text("Lima\n" * 40)
    (folder / predictions.VANILLA).write_text("Lima\n" * 39)
    torch.save({"blocks.0.attn.w2": torch.zeros(1), "blocks.0.attn.b2": torch.zeros(1)},
               folder / predictions.PARAMS)  # fmt: skip
    (folder / "labels.tsv").write_text(LABELS)
    path = folder / "assignment_ada.zip"
    with zipfile.ZipFile(path, "w") as out:
        for file in [*folder.glob("src/*.py"), *folder.glob("*.p*s")]:
            out.write(file, file.relative_to(folder))
    return path


def test_a_right_submission_is_graded_as_such(
    packed: Path,
    main: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fewer = corruption.request(few=10, many=1500)
    monkeypatch.setattr(main.corruption, "request", lambda seed: fewer | {"seed": seed})
    main.main([str(packed), "--labels", str(packed.parent / "labels.tsv"), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["points"] == {"2e": 10.0, "2g": 8.0}
    assert report["of"] == {"2e": 10, "2g": 10}
    assert (report["not_graded"], report["by_hand"]) == ({"2g": 0}, {"2g": 2})
    corrupted, code, accuracy, vanilla = report["parts"]
    assert "a right data set fails by chance below " in corrupted["notes"][0]
    assert code["findings"][-1]["passed"] is True
    (found,) = accuracy["findings"]
    assert found["seen"] == "38 right, 95.0%, 95 % interval 83.5% – 98.6%"
    assert "always London gives 5.0%, which reaches the 5% asked for." in accuracy["notes"][0]
    assert "did not learn: it answers 'Lima' to all 40 examples" in accuracy["notes"][1]
    assert vanilla["findings"][0]["seen"] == "it has 39 lines, the labels have 40"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no nowhere."),
        ([str(COURSE / "grading")], "holds no folder src/"),
        ([str(COURSE / "README.md")], "is neither a folder nor a zip."),
        ([str(COURSE), "--labels", "none.tsv"], "there is no file none.tsv."),
        ([str(COURSE), "--time-limit", "0"], "--time-limit 0 is not possible"),
    ],
)
def test_a_mistake_of_the_teachers_is_reported(
    arguments: list[str], message: str, main: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main.main(arguments)
    out, error = capsys.readouterr()
    assert (left.value.code, out, error.count("\n")) == (2, "", 1)
    assert message in error


@pytest.fixture(scope="module")
def main() -> ModuleType:
    """The command, in this process."""
    return load("grade.py")


def test_the_report_has_a_line_a_check_and_the_sum(
    main: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main.sandbox, "ask", lambda *_, **__: ({"fatal": "it is broken"}, {}))
    main.main([str(COURSE)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2(e) span corruption: 0 of 10 points (12 checks, each 0.83)"
    assert lines[1].startswith("  FAILED      runs: it is broken (wanted: src/dataset.py builds")
    assert lines[-1] == (
        "2(e) 0 of 10; 2(g) 0 of 10 (2 by hand, for the written answer ii, 4 not graded without"
        " --labels)."
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
    torch.save({"attn.key.weight": torch.zeros(1)}, tmp_path / predictions.PARAMS)
    assert predictions.grade_params(tmp_path).passed is False


def test_predictions_below_what_is_asked_fail(tmp_path: Path) -> None:
    (tmp_path / predictions.VANILLA).write_text("London\n" * 2 + "Oslo\n" * 38)
    labels = ["London"] * 2 + ["Lima"] * 38
    finding, notes = predictions.grade_accuracy(tmp_path, predictions.VANILLA, labels)
    assert finding.passed is False
    assert finding.seen.startswith("2 right, 5.0%")
    assert notes[0].endswith("always London gives 5.0%, which does not reach the 10% asked for.")
    finding, _ = predictions.grade_accuracy(tmp_path, predictions.SYNTHESIZER, labels)
    assert finding.seen.startswith("cannot be read: ")


def test_labels_without_answers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inputs.tsv").write_text("Where was A born?\n")
    with pytest.raises(UserError, match=r"inputs\.tsv, line 1: .* must be a question, a tab and"):
        predictions.check_labels(tmp_path / "inputs.tsv")


def test_a_damaged_zip_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("src/dataset.py", "x" * 1000)
    content = bytearray(path.read_bytes())
    content[100] ^= 255
    path.write_bytes(content)
    with (
        pytest.raises(UserError, match=r"a\.zip cannot be unpacked: Bad CRC"),
        submission.opened(path),
    ):
        pass


def test_nothing_is_unpacked_outside_and_nothing_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("work/src/dataset.py", "")
        out.writestr("../../outside.py", "")
    with submission.opened(path) as folder:
        assert (folder.name, (folder / "src" / "dataset.py").is_file()) == ("work", True)
    assert not list(tmp_path.parent.glob("outside.py"))
    monkeypatch.setattr(submission, "LARGEST", -1)
    with (
        pytest.raises(UserError, match=r"unpacks to 0 bytes; at most -1 are taken"),
        submission.opened(path),
    ):
        pass
