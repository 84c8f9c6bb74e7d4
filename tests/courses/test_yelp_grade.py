"""The yelp course's grader passes what is right, and fails every known mistake by its name."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from course_files import ROOT, YELP, exit_code, forget, load
from graded import assert_costs_only
from grading import sandbox
from grading.findings import Finding
from grading.yelp import (
    by_hand,
    checkpoint,
    classifier,
    joint,
    masked_lm,
    masking,
    probe,
    submissions,
)
from grading.yelp.mutants import Mutant
from grading.yelp.mutants import classifier as wrong_classifiers
from grading.yelp.mutants import joint as wrong_joint
from grading.yelp.mutants import masked_lm as wrong_masked
from grading.yelp.mutants import masking as wrong_masking
from markers import filled, for_students

handout = load("handout.py", course=ROOT / "courses")
PARTS = {
    classifier: wrong_classifiers.KNOWN,
    masked_lm: wrong_masked.KNOWN,
    joint: wrong_joint.KNOWN,
    masking: wrong_masking.KNOWN,
}
QUICK = {
    "mean over padding",
    "pooler",
    "mask inverted",
    "no dropout",
    "dropout after linear",
    "evaluation mode left on",
    "softmax before cross_entropy",
    "loss summed",
    "labels of another shape",
    "-100 forgotten",
    "loss on all tokens",
    "untied",
    "alpha on the wrong loss",
    "targets are the masked inputs",
    "special tokens masked",
    "always [MASK]",
}
Grade = Callable[[Any, dict[str, str]], list[Finding]]
Command = Callable[..., tuple[int, str, str]]


def by_a_student(name: str) -> str:
    """Return a file of the handout with a student's answers in it."""
    source = (YELP / name).read_text(encoding="utf-8")
    return filled(for_students(source), by_hand.ANSWERS)


def changed(file: str, replaced: dict[str, str]) -> dict[str, str]:
    """Return a student's file with other pieces in it."""
    source = by_a_student(file)
    for old, new in replaced.items():
        assert old in source
        source = source.replace(old, new)
    return {file: source}


def answered(file: Path, request: dict[str, Any]) -> Any:
    """Answer as the probe's process does, in this one."""
    forget()
    try:
        return probe.KINDS[request["kind"]](file, request)
    except BaseException as error:
        return {"fatal": probe.last_line(error)}, {}
    finally:
        forget()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("model") / "bert"
    checkpoint.write(folder)
    return folder


@pytest.fixture
def grade(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Grade:
    """Return what judges one part of a student's files."""
    monkeypatch.syspath_prepend(str(YELP))

    def go(part: Any, files: dict[str, str]) -> list[Finding]:
        for name in ("mymodel.py", "classifier_mlm.py", "trainer.py"):
            (tmp_path / name).write_text(files.get(name) or by_a_student(name), encoding="utf-8")
        file = tmp_path / ("classifier_mlm.py" if part is masking else "mymodel.py")
        found: list[Finding] = part.grade(answered(file, part.request(model)))
        return found

    return go


def failed(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.passed is False]


@pytest.mark.parametrize(
    ("part", "mutant"),
    [
        pytest.param(
            part, mutant, id=mutant.name, marks=[] if mutant.name in QUICK else pytest.mark.slow
        )
        for part, known in PARTS.items()
        for mutant in known
    ],
)
def test_a_usual_mistake_fails_the_checks_that_name_it(
    part: Any, mutant: Mutant, grade: Grade
) -> None:
    found = failed(grade(part, changed(mutant.file, mutant.replaced)))
    assert tuple(finding.check for finding in found) == mutant.fails
    assert mutant.said in found[0].seen


def test_the_quick_mistakes_are_among_the_known_ones() -> None:
    assert {mutant.name for known in PARTS.values() for mutant in known} >= QUICK


@pytest.mark.slow
def test_every_check_has_a_bug_that_it_must_catch(grade: Grade) -> None:
    shared = {check.name for check in (*joint.CLASSES, *joint.TOKENS)}
    for part, known in PARTS.items():
        caught = {check for mutant in known for check in mutant.fails}
        checks = {finding.check for finding in grade(part, {})}
        if part is joint:  # the classes' heads have bugs of their own; here it is about both
            checks -= shared | {"runs"}
        assert checks - caught == set()


OWN_NAMES = {
    "self.classifier": "self.fc",
    "self.mlm_head = MLMHead(config)": "self.mlm_head = MLMHead(config)\n"
    "        self.decoder = nn.Linear(config.d_model, config.vocab_size)\n"
    "        self.decoder.weight = self.bert.embeddings.words.weight",
    "hidden @ table.T + self.bias": "hidden",
    "self.mlm_head(hidden, self.bert.embeddings.words.weight)": "self.decoder("
    "self.mlm_head(hidden, None))",
}
CONVEX = {
    "Term(mean * labelled.weight, labelled.weight)": "Term(mean * labelled.weight,"
    " labelled.weight, 1 - self.alpha)",
}
IN_THE_SUM = {
    "Term(mean * masked.weight, masked.weight, self.alpha)": "Term("
    "self.alpha * mean * masked.weight, masked.weight)",
}
ANY_TOKEN = {"torch.randint(5, len(tokenizer)": "torch.randint(len(tokenizer)"}
OURS = {name: (YELP / name).read_text("utf-8") for name in ("mymodel.py", "classifier_mlm.py")}
READINGS = {
    "ours, classifier": (classifier, OURS),
    "ours, masked": (masked_lm, OURS),
    "ours, joint": (joint, OURS),
    "ours, inputs": (masking, OURS),
    "own names, classifier": (classifier, changed("mymodel.py", OWN_NAMES)),
    "own names, masked": (masked_lm, changed("mymodel.py", OWN_NAMES)),
    "another body name": (
        classifier,
        changed("mymodel.py", {"self.bert": "self.encoder", '"bert": "body"': '"encoder": "body"'}),
    ),
    "scores alone, not in a tuple": (
        classifier,
        changed("mymodel.py", {"return (logits,)": "return logits"}),
    ),
    "float32": (classifier, changed("mymodel.py", {"hidden[:, 0]": "hidden[:, 0].float()"})),
    "losses weighed by 1 - alpha and alpha": (joint, changed("trainer.py", CONVEX)),
    "alpha within the loss": (joint, changed("trainer.py", IN_THE_SUM)),
    "special tokens among the random ones": (masking, changed("classifier_mlm.py", ANY_TOKEN)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if "ours" in n else pytest.mark.slow) for n in READINGS]
)
def test_every_right_reading_passes(name: str, grade: Grade) -> None:
    part, files = READINGS[name]
    assert [f for f in grade(part, files) if f.passed is not True] == []


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission of ours, with runs of which three quarters of the predictions are right."""
    folder: Path = tmp_path_factory.mktemp("right") / "ada"
    folder.mkdir()
    for file in YELP.glob("*.py"):
        shutil.copy(file, folder)
    (folder / "grade.py").unlink()
    submissions.right(folder)
    (folder.parent / "labels.csv").write_text(submissions.labels_file(), encoding="utf-8")
    return folder


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return what runs `python grade.py WORDS`."""
    monkeypatch.chdir(tmp_path)
    main = load("grade.py", course=YELP)

    def go(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grade.py", *map(str, words)])
        return exit_code(main), *capsys.readouterr()

    return go


@pytest.fixture(scope="module")
def known() -> dict[tuple[bytes, str], Any]:
    """What the probes have said so far, by file and request."""
    return {}


@pytest.fixture
def in_this_process(known: dict[tuple[bytes, str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer here, and only once for the same file: they are ours."""

    def ask(_: ModuleType, file: Path, request: dict[str, Any], __: sandbox.Limits) -> Any:
        key = file.read_bytes(), request.get("class", request["kind"])
        if key not in known:
            with monkeypatch.context() as patch:
                patch.syspath_prepend(str(file.parent))
                known[key] = answered(file, request)
        return known[key]

    monkeypatch.setattr(sandbox, "ask", ask)


@pytest.mark.usefixtures("in_this_process")
def test_a_right_submission_gets_every_point(right: Path, command: Command) -> None:
    code, out, error = command(right, "--labels", right.parent / "labels.csv", "--json")
    (report,) = json.loads(out)
    failed = [f for part in report["parts"] for f in part["findings"] if not f["passed"]]
    assert (code, error, failed) == (0, "", [])
    assert {part["name"]: part["points"] for part in report["parts"]} == {
        "2 code": 12, "2 score": 8, "3.1(a)": 8, "3.1(b)": 6, "3 joint": 6, "3.2": 4, "3.3": 6,
    }  # fmt: skip
    score, joint = (report["parts"][i] for i in (1, 5))
    assert score["findings"][0]["seen"] == "runs/all, validation 70.0%", "not runs/tried"
    assert score["findings"][-1]["seen"].startswith("30 of 40 right, 75.0%, 95 % interval 59.8%")
    assert joint["notes"] == [
        "alone 75.0%, jointly 75.0%: +0.0 points on 40 texts, p = 1 (exact McNemar)."
    ]
    assert Path("grades/grades.csv").read_text().splitlines()[1] == "ada,12,8,8,6,6,4,6,50,50,"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("mistake", submissions.FILES, ids=lambda mistake: mistake.name)
def test_a_mistake_in_the_runs_is_caught_by_name_and_costs_nothing_else(
    mistake: Any, right: Path, command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(right, folder)
    mistake.make(folder)
    _, out, _ = command(folder, "--labels", right.parent / "labels.csv", "--json")
    (report,) = json.loads(out)
    assert_costs_only(report, mistake)


@pytest.mark.usefixtures("in_this_process")
def test_a_model_that_gives_one_answer_to_everything_did_not_learn(
    right: Path, command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(right, folder)
    submissions.COLLAPSED(folder)
    _, out, _ = command(folder, "--labels", right.parent / "labels.csv", "--accuracy", "0.2")
    assert "2 score accuracy on the test set: 0 of 8 points (4 checks, all must pass)" in out
    assert "it did not learn: it answers '3' to 40 of 40 texts" in out
    assert "passed      all labels: test score: 8 of 40 right, 20.0%" in out


@pytest.mark.usefixtures("in_this_process")
def test_the_threshold_is_a_flag_and_without_labels_no_score_is_graded(
    right: Path, command: Command
) -> None:
    _, out, _ = command(right, "--labels", right.parent / "labels.csv", "--accuracy", "0.8")
    assert "FAILED      all labels: test score: 30 of 40 right, 75.0%" in out
    _, out, _ = command(right)
    assert "not judged  all labels: record: give the test set with --labels test.csv" in out
    assert "ada: 32 of 32 points (2 code 12; 2 score –; 3.1(a) 8;" in out
    assert "by hand: Problem 1, 21 points, and the report" in out


UNSOLVED = (
    "runs: not written yet: Problem 2, mymodel.py: make a dropout of config.dropout and a linear",
    "all labels: there is no such run. Write Problem 2, mymodel.py: make a dropout",
    "runs: not written yet: Problem 3, 1(a), mymodel.py: write BertForMaskedLanguageModel.f",
    "runs: not written yet: Problem 3, 1(b), classifier_mlm.py: get the MLM inputs of a batch",
    "all labels, joint: there is no such run. Write Problem 2, mymodel.py: make a dropout",
)


@pytest.mark.usefixtures("in_this_process")
def test_a_handout_is_graded_at_0_with_what_to_do(command: Command, tmp_path: Path) -> None:
    handout.write(YELP, tmp_path / "cleo")
    code, out, _ = command("cleo")
    assert code == 0
    assert [said for said in UNSOLVED if said not in out] == []
    assert "cleo: 0 of 50 points" in out


@pytest.mark.slow
def test_a_handout_gets_no_point_and_with_our_solutions_every_point(
    right: Path, command: Command, tmp_path: Path
) -> None:
    labels = right.parent / "labels.csv"
    handout.write(YELP, tmp_path / "cleo")
    _, out, _ = command("cleo", "--labels", labels)
    assert [said for said in UNSOLVED if said not in out] == []
    assert "cleo: 0 of 50 points" in out
    shutil.copytree(right, tmp_path / "cleo", dirs_exist_ok=True)
    assert "cleo: 50 of 50 points" in command("cleo", "--labels", labels)[1]


@pytest.mark.slow
def test_a_class_of_five_with_one_broken_one_endless_and_one_misnamed(
    right: Path, command: Command, tmp_path: Path
) -> None:
    changes = {
        "ada": ("", ""),
        "broken": ("class MLMHead(nn.Module):", "class MLMHead(nn.Module)"),
        "endless": ("IGNORED = -100", "while True: pass"),
        "misnamed": ("BertForSequenceClassification", "BertForSequenceClasification"),
        "zoe": ("", ""),
    }
    for name, (old, new) in changes.items():
        shutil.copytree(right, tmp_path / name)
        file = tmp_path / name / "mymodel.py"
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    labels = right.parent / "labels.csv"
    code, out, _ = command(*changes, "--labels", labels, "--time-limit", "15")
    assert (code, len(out.splitlines())) == (0, 6)
    lines = Path("grades/grades.csv").read_text().splitlines()[1:]
    assert {line.split(",")[0]: line.split(",")[8] for line in lines} == {
        "ada": "50", "broken": "24", "endless": "24", "misnamed": "38", "zoe": "50",
    }  # fmt: skip
    said = {name: Path(f"grades/{name}.txt").read_text() for name in changes}
    assert "SyntaxError: expected ':'" in said["broken"]
    assert "it took longer than 15 seconds and was stopped" in said["endless"]
    assert "Did you mean 'BertForSequenceClasification'?" in said["misnamed"]


def test_a_broken_file_is_reported_by_its_process(tmp_path: Path) -> None:
    (tmp_path / "mymodel.py").write_text("class BertForCLSMLM(:\n")
    request = {"kind": "joint", "class": "BertForCLSMLM"}
    answer = sandbox.ask(probe, tmp_path / "mymodel.py", request, sandbox.Limits())
    runs, *rest = joint.grade(answer)
    assert runs.seen.startswith("SyntaxError: ")
    assert {finding.passed for finding in rest} == {None}
