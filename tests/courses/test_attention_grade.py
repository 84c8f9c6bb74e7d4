"""The grader of the attention course passes what is right, and names every usual mistake."""

import csv
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import ROOT, exit_code, load
from grading import sandbox
from grading.attention import by_hand, from_scratch, probe, submissions

from attnlab.geometry.answers import attempt
from attnlab.geometry.examples import cse517
from attnlab.geometry.explain.answer import Request, explain_answer
from attnlab.recipes.attention.check import check_file

ATTENTION = ROOT / "courses" / "attention"
NOTEBOOKS = ("A2S1.ipynb", "A2S2.ipynb")
POINTS = {
    "1.2": 8, "1.3": 8, "1.4": 8,
    "2.1 step 1": 8, "2.1 step 2": 4, "2.1 step 3": 4, "2.1 all steps": 4,
}  # fmt: skip
Grade = Callable[..., tuple[int, str, str]]


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
    main = load("grade.py", course=ATTENTION)

    def go(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grade.py", *map(str, words)])
        return exit_code(main), *capsys.readouterr()

    return go


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run submissions, which are ours, in this process: that takes a tenth of the time."""

    def ask(_: Any, file: Path, request: dict[str, Any], __: sandbox.Limits) -> Any:
        return probe.run_functions(file, {**request, "seconds": 1})

    monkeypatch.setattr(sandbox, "ask", ask)
    monkeypatch.setattr(
        from_scratch, "check_file_apart", lambda file, only, **_: check_file(file, only=only)
    )
    path, dtype = sys.path[:], torch.get_default_dtype()
    yield
    sys.path[:] = path
    torch.set_default_dtype(dtype)


def findings_of(out: str) -> list[dict[str, Any]]:
    """Return the findings of the one student of a report, with the names of their parts."""
    (report,) = json.loads(out)
    return [{"part": p["name"], **f} for p in report["parts"] for f in p["findings"]]


def change(notebook: Path, old: str, new: str) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert old in text
    notebook.write_text(text.replace(old, new), encoding="utf-8")


def hand_out(folder: Path) -> None:
    """Write what a student gets."""
    load("handout.py", course=ROOT / "courses").write(ATTENTION, folder)


def table() -> dict[str, dict[str, str]]:
    with Path("grades/grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "mistake",
    [*submissions.BY_HAND, *submissions.FROM_SCRATCH],
    ids=lambda mistake: f"{mistake.part} {mistake.name}",
)
def test_a_usual_mistake_is_caught_by_name(mistake: Any, right: Path, grade: Grade) -> None:
    mistake.make(right)
    code, out, _ = grade(right, "--json")
    first, *others = [f for f in findings_of(out) if f["passed"] is not True]
    assert code == 0
    assert (first["passed"], first["check"]) == (False, mistake.check)
    assert first["part"].startswith(mistake.part)
    assert mistake.said in first["seen"]
    if first["part"] == "1.3":  # whose query is that of 1.4
        assert {f["part"] for f in others} <= {"1.4"}
    elif mistake.name == "no return value":
        assert [f["check"] for f in others] == ["self_attention"]
    elif mistake.name != "a misspelt file":
        assert others == []


def test_every_question_has_a_mistake_that_is_caught() -> None:
    questions = {f"{question.number} {question.function}" for question in by_hand.QUESTIONS}
    assert {mistake.check for mistake in submissions.BY_HAND} == questions
    functions = {name for step in from_scratch.STEPS.values() for name in step}
    assert {mistake.check for mistake in submissions.FROM_SCRATCH} == functions


ANSWERS = {
    "the printed answers": {
        "return 1e6 * K[0]": "return torch.tensor([470000, 650000, 600000])",
        "    return torch.zeros(K.shape[1])": "    return torch.tensor([0.3775, -0.0400, -0.1300])",
        "return 20 * query": "return 10 * (K[0] + K[1])",
    },
    "lists, arrays and float32": {
        "return 1e6 * K[0]": "return [470.0, 650.0, 600.0]",
        "return 1e6 * K\\n": "return [100 * k.float() for k in K]\\n",
        "    return torch.zeros(K.shape[1])": "    return __import__('numpy').zeros((1, 3))",
        "return (K[0] + K[1]) / 2": "return ((K[0] + K[1]) / 2).requires_grad_()",
    },
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("answers", ANSWERS)
def test_a_right_answer_that_is_not_ours_counts(answers: str, right: Path, grade: Grade) -> None:
    for old, new in ANSWERS[answers].items():
        change(right / "A2S1.ipynb", old, new)
    _, out, _ = grade(right, "--json")
    assert [f for f in findings_of(out) if f["passed"] is not True] == []


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [("4*(k0+k1)-0.1*k3", True), ("88*(k0+k1)", False)],
)
def test_an_answer_is_judged_as_attention_solve_judges_it(answer: str, is_right: bool) -> None:
    (question,) = [q for q in by_hand.QUESTIONS if q.number == "1.3.2"]
    instance, task = cse517(), question.task
    explained = explain_answer(instance, task, request=Request(answer=answer))
    value = attempt(answer, instance, task=task).value[0]
    said = {"failures": {q.function: "it is not asked" for q in by_hand.QUESTIONS}}
    del said["failures"][question.function]
    _, averaging, _ = by_hand.grade((said, {question.function: value}))
    assert averaging.findings[1].passed is is_right
    assert explained is not None
    assert explained.verdict == ("right" if is_right else "wrong")


@pytest.mark.usefixtures("here")
def test_a_handout_is_graded_at_0_with_what_to_do_and_at_full_points_with_our_solutions(
    tmp_path: Path, grade: Grade
) -> None:
    folder = tmp_path / "cleo"
    hand_out(folder)
    code, out, error = grade(folder, "--json")
    findings = findings_of(out)
    assert (code, error) == (0, "")
    assert len(findings) == 15
    assert all(f["passed"] is False for f in findings)
    assert all(f["seen"].startswith("not written yet: ") for f in findings)
    said = {f["check"]: f["seen"] for f in findings}
    assert said["1.2.1 select_first"] == (
        "not written yet: 1.2.1 - a query that returns v_0 (code cell 2, line 4, in select_first)"
    )
    assert said["1.4.1 key_to_average"] == (
        "not written yet: first write average_two, whose query it keeps"
    )
    assert "Step 1 - multiply the scores by 1 / sqrt(n_embd / n_heads)" in said["attn_scaled"]
    assert table()["cleo"]["total"] == "0"
    submissions.right(folder)
    _, out, _ = grade(folder)
    assert "cleo: 44 of 44 points" in out
    row = table()["cleo"]
    assert {name: float(row[name]) for name in POINTS} == POINTS
    assert row["why"] == ""


WRITTEN = {
    "1.2.1 - ": "return torch.tensor([47.0, 65.0, 60.0])",
    "1.2.2 - ": "return K * 50",
    "1.3.1 - ": "return 0 * K[0]",
    "1.3.2 - ": "return torch.tensor([1.11, 1.15, 0.01]) * 12",
    "1.4.1 - ": "return K[:2].mean(0)",
    "1.4.2 - ": "return torch.nn.functional.normalize(q, dim=0)",
    "further - ": "return K[i]",
    "Step 1 - the dot products": "return torch.einsum('...qd,...kd->...qk', Q, K)",
    "Step 1 - multiply": "return A * (n_embd / n_heads) ** -0.5",
    "Step 1 - a softmax": "return A.exp() / A.exp().sum(-1, keepdim=True)",
    "Step 1 - the sums": "return torch.matmul(A, V)",
    "Step 1 - the scaled": "Q, K, V = (split_heads(x, n_heads) for x in (Q, K, V))\\n"
    "    A = attn_scaled(pairwise_similarities(Q, K), n_embd, n_heads)\\n"
    "    A = apply_causal_mask(make_causal_mask(n_tok), A) if causal else A",
    "Step 1 - the softmax": "y = merge_heads(compute_outputs(attn_softmax(A), V))",
    "Step 2 - ones": "return 1 - torch.triu(torch.ones(n_tok, n_tok), 1)",
    "Step 2 - minus": "return torch.where(mask == 1, A, torch.tensor(-1e9, dtype=A.dtype))",
    "Step 3 - cut": "return torch.stack(x.chunk(n_heads, dim=-1), dim=1)",
    "Step 3 - undo": "return torch.cat(list(x.unbind(1)), dim=-1)",
}
"""What a student writes into the handout, who does not know how we did it."""


@pytest.mark.usefixtures("here")
def test_what_a_student_writes_into_the_handout_is_right(tmp_path: Path, grade: Grade) -> None:
    folder = tmp_path / "cleo"
    hand_out(folder)
    assert {path.name for path in folder.iterdir()} == {"README.md", *NOTEBOOKS}
    used = set()
    for notebook in NOTEBOOKS:
        text = (folder / notebook).read_text(encoding="utf-8")
        for todo in re.findall(r'raise NotImplementedError\(\\"(.*?)\\"\)', text):
            (start,) = [start for start in WRITTEN if todo.startswith(start)]
            change(folder / notebook, rf"raise NotImplementedError(\"{todo}\")", WRITTEN[start])
            used.add(start)
    assert used == WRITTEN.keys()
    _, out, _ = grade(folder, "--json")
    assert [f for f in findings_of(out) if f["passed"] is not True] == []


@pytest.mark.usefixtures("here")
def test_python_files_are_taken_too_and_the_report_says_which_was_read(
    right: Path, grade: Grade
) -> None:
    source = (ATTENTION / "A2S2.py").read_text(encoding="utf-8")
    (right / "A2S2.py").write_text(source.replace("dim=-1", "dim=-2") + "\n1 / 0\n")
    _, out, _ = grade(right)
    assert "note        A2S2.py is graded, A2S2.ipynb is not read" in out
    assert "FAILED      attn_softmax: the softmax runs over the queries" in out
    assert "2.1 step 1 the core: 6 of 8 points (4 checks, each 2)" in out
    assert "by hand: how the vectors of 1.2 to 1.4 were found" in out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("A2S1.ipynb", "{", "A2S1.ipynb is no notebook: it holds no JSON with cells"),
        ("A2S2.ipynb", "{", "A2S2.ipynb is no notebook: it holds no JSON with cells"),
        ("A2S2.py", "def (", "A2S2.py, line 1: invalid syntax"),
        ("A2S1.py", "def (", "A2S1.py, line 1: invalid syntax"),
    ],
)
def test_a_file_that_cannot_be_read_costs_its_own_points_only(
    name: str, text: str, said: str, right: Path, grade: Grade
) -> None:
    (right / name).write_text(text)
    _, out, _ = grade(right)
    lost = "A2S1" if "A2S1" in name else "A2S2"
    assert f"ada: {20 if lost == 'A2S1' else 24} of 44 points" in out
    assert said in out
    assert str(right) not in out


@pytest.mark.usefixtures("here")
def test_a_function_that_raises_is_reported_with_its_cell_and_line(
    right: Path, grade: Grade
) -> None:
    change(right / "A2S1.ipynb", "return 20 * query", "return 20 * querry")
    change(right / "A2S2.ipynb", "return A @ V", "return A @ W")
    seen = {f["check"]: f["seen"] for f in findings_of(grade(right, "--json")[1])}
    assert seen["1.3.2 average_two"] == (
        "it raises NameError: name 'querry' is not defined (code cell 6, line 5, in average_two)"
    )
    assert seen["1.4.1 key_to_average"] == "it needs the query of average_two; there is none"
    assert "(code cell 3, line 18, in compute_outputs)" in seen["compute_outputs"]


@pytest.mark.slow
def test_a_class_of_five_with_one_broken_one_endless_and_one_misnamed(
    right: Path, grade: Grade, tmp_path: Path
) -> None:
    for name in ("broken", "endless", "misnamed"):
        shutil.copytree(right, tmp_path / name)
    change(tmp_path / "broken" / "A2S2.ipynb", "def attn_softmax(A", "def attn_softmax(A, A")
    change(tmp_path / "broken" / "A2S1.ipynb", "return 1e6 * K[0]", "__import__('os')._exit(7)")
    change(tmp_path / "endless" / "A2S1.ipynb", "return 1e6 * K[0]", "while True: pass")
    change(tmp_path / "endless" / "A2S2.ipynb", "return A @ V", "while True: pass")
    change(tmp_path / "misnamed" / "A2S2.ipynb", "def merge_heads", "def merge_head")
    (tmp_path / "misnamed" / "A2S1.ipynb").rename(tmp_path / "misnamed" / "A2S1-final.ipynb")
    with zipfile.ZipFile("zoe.zip", "w") as packed:
        for name in NOTEBOOKS:
            packed.write(right / name, f"work/{name}")
    code, out, _ = grade("ada", "broken", "endless", "misnamed", "zoe.zip", "--time-limit", "14")
    found = table()
    assert code == 0
    assert {name: row["total"] for name, row in found.items()} == {
        "ada": "44", "broken": "0", "endless": "34", "misnamed": "14", "zoe": "44",
    }  # fmt: skip
    assert "duplicate argument 'A' in function definition" in found["broken"]["why"]
    assert "exit code 7 and gave no answer" in found["broken"]["why"]
    assert "1.2.1 select_first: it took longer than 2 seconds" in found["endless"]["why"]
    assert "compute_outputs: it has not ended after 14 seconds" in found["endless"]["why"]
    assert "Did you mean 'A2S1-final.ipynb'?" in found["misnamed"]["why"]
    assert "Did you mean 'merge_head'?" in found["misnamed"]["why"]
    assert len(out.splitlines()) == 6


@pytest.mark.slow
def test_more_memory_than_there_is_costs_one_function(right: Path, grade: Grade) -> None:
    change(right / "A2S2.ipynb", "return A @ V", "print('!'); return torch.ones(2**36)")
    _, out, error = grade(right, "--memory-limit", "2")
    assert "compute_outputs: it raises RuntimeError" in out
    assert "can't allocate memory" in out
    assert "passed      merge_heads" in out
    assert "!" not in error
