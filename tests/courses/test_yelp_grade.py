"""The yelp course's grader passes what is right, and fails every known mistake by its name."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from course_files import YELP
from grading.findings import Finding
from grading.yelp import by_hand, checkpoint, classifier, joint, masked_lm, masking, mutants, probe
from grading.yelp.mutants import Mutant
from markers import filled, for_students

FILES = ("mymodel.py", "classifier_mlm.py", "trainer.py")
Grade = Callable[[Any, dict[str, str]], list[Finding]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("model") / "bert"
    checkpoint.write(folder)
    return folder


def by_a_student(name: str) -> str:
    """Return a file of the handout with a student's answers in it."""
    source = (YELP / name).read_text(encoding="utf-8")
    return filled(for_students(source), by_hand.ANSWERS)


def with_bug(mutant: Mutant) -> dict[str, str]:
    source = by_a_student(mutant.file)
    for old, new in mutant.replaced.items():
        assert old in source
        source = source.replace(old, new)
    return {mutant.file: source}


@pytest.fixture
def grade(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grade]:
    """Return what grades some files by the checks of a part, in this process: they are ours."""
    monkeypatch.syspath_prepend(str(YELP))
    known = set(sys.modules)

    def go(part: Any, files: dict[str, str]) -> list[Finding]:
        for name in FILES:
            (tmp_path / name).write_text(files.get(name) or by_a_student(name), encoding="utf-8")
        if part is masking:
            return masking.grade(
                answered(probe.run_masking, tmp_path / "classifier_mlm.py", masking.request(model))
            )
        run = probe.run_joint if part is joint else probe.run_model
        found: list[Finding] = part.grade(
            answered(run, tmp_path / "mymodel.py", part.request(model))
        )
        return found

    yield go
    for name in set(sys.modules) - known:  # other tests have a student's files of these names
        if str(getattr(sys.modules[name], "__file__", "")).startswith((str(YELP), str(tmp_path))):
            del sys.modules[name]


def answered(run: Any, file: Path, request: dict[str, Any]) -> Any:
    """Answer as the probe's process does."""
    try:
        return run(file, request)
    except BaseException as error:
        return {"fatal": probe.last_line(error)}, {}


def failed(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.passed is False]


KNOWN = [
    pytest.param(part, mutant, id=f"{part.__name__.rpartition('.')[2]}: {mutant.name}")
    for part, several in (
        (classifier, mutants.CLASSIFIERS),
        (masked_lm, mutants.MASKED),
        (joint, mutants.JOINT),
        (masking, mutants.MASKING),
    )
    for mutant in several
]


@pytest.mark.parametrize(("part", "mutant"), KNOWN)
def test_a_usual_mistake_fails_the_checks_that_name_it(
    part: Any, mutant: Mutant, grade: Grade
) -> None:
    found = failed(grade(part, with_bug(mutant)))
    assert tuple(finding.check for finding in found) == mutant.fails
    assert mutant.said in found[0].seen


def test_every_check_has_a_bug_that_it_must_catch(grade: Grade) -> None:
    for part, known in (
        (classifier, mutants.CLASSIFIERS),
        (masked_lm, mutants.MASKED),
        (masking, mutants.MASKING),
    ):
        caught = {check for mutant in known for check in mutant.fails}
        assert {finding.check for finding in grade(part, {})} - caught == set()
