"""The grader of the sst2 course passes what is right, and names every usual mistake."""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from course_files import ROOT, exit_code, load
from grading import sandbox
from grading.sst2 import batches, probe, submissions, training
from markers import filled

SST2 = ROOT / "courses" / "sst2"
POINTS = {
    "1 dataset": 6, "2 loaders": 5, "3 training": 3, "3 evaluation": 5, "4 main loop": 4,
    "5 test": 1,
}  # fmt: skip
Grade = Callable[..., tuple[int, str, str]]
QUICK = (
    "no mask", "all shuffled", "no zero_grad", "accuracy averaged over batches",
    "the test set chooses", "training a copy",
)  # fmt: skip
"""One mistake of each kind; the others take a minute."""


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """A submission of ours."""
    submissions.right(tmp_path / "ada")
    return tmp_path / "ada"


@pytest.fixture
def grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Grade:
    """Return what runs `python grade.py WORDS`."""
    monkeypatch.chdir(tmp_path)
    main = load("grade.py", course=SST2)

    def go(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grade.py", *map(str, words)])
        return exit_code(main), *capsys.readouterr()

    return go


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Run submissions, which are ours, in this process: that takes a tenth of the time."""

    def ask(_: Any, file: Path, request: dict[str, Any], __: sandbox.Limits) -> Any:
        answer = probe.run_all(file, {**request, "seconds": 100})
        capsys.readouterr()  # what the submission printed
        return answer

    for name in ("ATTNLAB_DATA", "ATTNLAB_ASSETS", "FULL", "TRAIN_ROWS", "EVAL_ROWS", "NUM_EPOCHS",
                 "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "MPLBACKEND"):  # fmt: skip
        monkeypatch.setenv(name, "")  # restored afterwards; the probe sets them
    monkeypatch.setattr(sandbox, "ask", ask)
    path = sys.path[:]
    yield
    sys.path[:] = path


def findings_of(out: str) -> list[dict[str, Any]]:
    """Return the findings of the one student of a report, with the names of their parts."""
    (report,) = json.loads(out)
    return [{"part": p["name"], **f} for p in report["parts"] for f in p["findings"]]


def table() -> dict[str, dict[str, str]]:
    with Path("grades/grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def cases() -> list[Any]:
    return [
        pytest.param(
            mistake,
            id=f"{mistake.part} {mistake.name}",
            marks=[] if mistake.name in QUICK else [pytest.mark.slow],
        )
        for mistake in submissions.ALL
    ]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("mistake", cases())
def test_a_usual_mistake_is_caught_by_name(mistake: Any, right: Path, grade: Grade) -> None:
    mistake.make(right)
    code, out, _ = grade(right, "--json")
    first, *others = [f for f in findings_of(out) if f["passed"] is not True]
    assert code == 0
    assert (first["part"], first["check"]) == (mistake.part, mistake.check)
    assert first["passed"] is False
    assert mistake.said in first["seen"]
    elsewhere = {(f["part"], f["check"]) for f in others if f["part"] != mistake.part}
    assert elsewhere <= {("4 main loop", "learns")}


def test_every_check_has_a_mistake_that_it_catches() -> None:
    found = {"1 dataset": batches.STEP_1, "2 loaders": batches.STEP_2}
    found |= training.checks_of(Path(), {})
    checks = {(part, check[0]) for part, some in found.items() for check in some}
    assert {(m.part, m.check) for m in submissions.ALL} == {*checks, ("5 test", "record")}
    assert {m.name for m in submissions.ALL} >= set(QUICK)
    assert len({m.name for m in submissions.ALL}) == len(submissions.ALL)


@pytest.mark.usefixtures("here")
def test_a_handout_is_graded_at_0_with_what_to_do_and_at_full_points_when_it_is_written(
    tmp_path: Path, grade: Grade
) -> None:
    folder = tmp_path / "cleo"
    load("handout.py", course=ROOT / "courses").write(SST2, folder)
    assert {path.name for path in folder.iterdir()} == {"README.md", "A2S3.ipynb"}
    code, out, error = grade(folder, "--json")
    findings = findings_of(out)
    assert code == 0, error
    assert all(f["passed"] is not True for f in findings)
    said = {f["check"]: f["seen"] for f in findings if f["passed"] is False}
    assert said["length"].startswith("not written yet: Step 1 - return how many sentences")
    assert said["collate_fn"].startswith("not written yet: Step 2 - three DataLoaders")
    assert said["three lines"].startswith("not written yet: Step 3 - put the model into training")
    assert said["evaluation mode"].startswith("not written yet: Step 3 - put the model into eval")
    assert said["trains on train"].startswith("not written yet: Step 4 - call train_one_epoch")
    assert said["record"].startswith("there is no A2S3_results.json")
    assert table()["cleo"]["total"] == "0"
    notebook = json.loads((folder / "A2S3.ipynb").read_text())
    for cell in notebook["cells"]:
        cell["source"] = filled("".join(cell["source"]), WRITTEN).splitlines(keepends=True)
    (folder / "A2S3.ipynb").write_text(json.dumps(notebook))
    submissions.records()(folder)
    _, out, _ = grade(folder)
    assert "cleo: 24 of 24 points" in out
    row = table()["cleo"]
    assert {name: float(row[name]) for name in POINTS} == POINTS
    assert row["why"] == ""
    assert "580 of 692 right, 83.8%" in out


WRITTEN = {
    "Step 1 - return how many": "return len(self.labels)",
    "Step 1 - return the sentence": """
        return {"text": self.sentences[index], "y": self.labels[index]}""",
    "Step 1 - call the tokenizer": """
        batch = self.tokenizer([item["text"] for item in items], padding="longest",
                               truncation=True, max_length=512, return_tensors="pt")
        batch["label_encoding"] = torch.LongTensor([item["y"] for item in items])
        return batch""",
    "Step 2": """
        rest = {"batch_size": batch_size, "num_workers": num_workers}
        return tuple(DataLoader(split, shuffle=split is train, collate_fn=split.collate_fn, **rest)
                     for split in (train, validation, test))""",
    "Step 3 - put the model into training": "model.train(True)",
    "Step 3 - compute gradients": "model.zero_grad()\nloss.backward()\noptimizer.step()",
    "Step 3 - put the model into evaluation": """
        model.train(False)
        total, hits = 0.0, 0
        with torch.inference_mode():
            for batch in loader:
                batch = on_device(batch)
                y = batch.pop("label_encoding")
                logits = model(**batch).logits
                total += torch.nn.functional.cross_entropy(logits, y, reduction="sum").item()
                hits += int((logits.argmax(1) == y).sum())
        return total / len(loader.dataset), hits / len(loader.dataset)""",
    "Step 4 - call": """
        train_loss, train_accuracy = train_one_epoch(model, train_loader, optimizer)
        validation_loss, validation_accuracy = evaluation(model=model, loader=validation_loader)
        if validation_accuracy > best_accuracy:
            best_accuracy = validation_accuracy
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}""",
    "Step 5": "test_loss, test_accuracy = evaluation(model, test_loader)",
}
"""What a student writes into the handout, who does not know how we did it."""


def test_a_misspelt_file_is_no_submission(right: Path, grade: Grade) -> None:
    (right / "A2S3.py").rename(right / "A2S3-final.ipynb")
    code, _, error = grade(right)
    assert code == 2
    assert "holds no A2S3.ipynb or A2S3.py" in error
    assert "Did you mean 'A2S3-final.ipynb'?" in error


@pytest.mark.slow
def test_a_class_is_graded_in_processes_of_its_own_and_an_endless_loop_costs_one_part(
    right: Path, grade: Grade
) -> None:
    submissions.right(right.with_name("bob"))
    submissions.replace("A2S3.py", "model.eval()", "while True: pass")(right.with_name("bob"))
    code, out, error = grade(right, right.with_name("bob"), "--time-limit", "60")
    found = table()
    assert code == 0, error
    assert "ada: 24 of 24 points" in out
    assert (found["bob"]["3 evaluation"], found["bob"]["3 training"]) == ("0", "3")
    assert "it took too long and was stopped" in found["bob"]["why"]
