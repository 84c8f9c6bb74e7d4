"""The checker of students' files notices every bug of the library, and names what it does."""

from pathlib import Path

import pytest

import my_attention
from attnlab.checks.mutants import MUTANTS, class_with, functions_with
from attnlab.checks.steps import check_functions
from attnlab.errors import UserError
from attnlab.recipes.attention.check import all_noticed, check_class, check_file, check_mutants

EFFECTS = {
    "missing scale": "the scores are not scaled",
    "softmax over the wrong axis": "every column sums to 1 instead of every row",
    "view without transpose": "a head holds some of the tokens instead of a part of each",
    "mask after softmax": "the future still counts in the denominator",
    "mask transposed": "a token sees itself and those after it",
    "value bias left out": "every output lacks",
    "heads merged in the wrong order": "interleaved instead of side by side",
}
FIRST_WRONG = {
    "missing scale": "attn_scaled",
    "softmax over the wrong axis": "attn_softmax",
    "view without transpose": "split_heads",
    "mask after softmax": "self_attention",
    "mask transposed": "make_causal_mask",
    "value bias left out": "init_qkv_proj",
    "heads merged in the wrong order": "merge_heads",
}


def test_the_library_holds_the_usual_bugs() -> None:
    assert {mutant.name for mutant in MUTANTS} == set(EFFECTS)


def test_what_has_no_bug_is_right_everywhere() -> None:
    report = check_mutants()["no bug"]
    assert {kind: len(findings) for kind, findings in report.items()} == {
        "functions": 12,
        "MyAttention": 12,
    }
    assert [f for findings in report.values() for f in findings if not f.right] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_in_the_functions_is_found_where_it_is(mutant) -> None:
    wrong = [finding for finding in check_functions(functions_with(mutant)) if not finding.right]
    assert wrong[0].what == FIRST_WRONG[mutant.name]
    assert EFFECTS[mutant.name] in wrong[0].problem


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_in_a_class_is_named(mutant) -> None:
    problems = [f.problem for f in check_class(class_with(mutant), like="dot_product") if f.problem]
    assert any(EFFECTS[mutant.name] in problem for problem in problems)


@pytest.mark.parametrize("name", ["softmax over the wrong axis", "view without transpose"])
def test_without_a_twin_the_leak_alone_gives_a_class_away(name: str) -> None:
    (mutant,) = [mutant for mutant in MUTANTS if mutant.name == name]
    wrong = {f.what: f.problem for f in check_class(class_with(mutant)) if f.problem}
    assert "the future is seen: the output at position" in wrong["hides the future"]


def check_text(tmp_path: Path, text: str, **how: str) -> dict[str, str | None]:
    file = tmp_path / "mine.py"
    file.write_text("import torch\nfrom torch import nn\n" + text, encoding="utf-8")
    return {f.what: f.problem for findings in check_file(file, **how).values() for f in findings}


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        ("def attn_softmax(A): return A.softmax(-1)[..., 0]", "attn_softmax",
         "it returns shape (2, 7) instead of (2, 7, 7)"),
        ("def attn_softmax(A): return A.sofmax(-1)", "attn_softmax",
         "it raises AttributeError: 'Tensor' object has no attribute 'sofmax' (line 3, in attn_s"),
        ("def attn_softmax(A): return 3", "attn_softmax", "it returns int, not a tensor"),
        ("def attn_softmax(A): return A.softmax(-1) ** 2", "attn_softmax",
         "no usual mistake gives them"),
        ("def split_heads_qkv(Q, K, V, n): return Q", "split_heads_qkv",
         "it returns 1 tensors instead of 3"),
        ("def make_causal_mask(n): return torch.tril(torch.ones(n, n), -1)", "make_causal_mask",
         "a token may not see itself"),
        ("def apply_causal_mask(mask, A): return torch.where(mask.bool(), A, 0.0)",
         "apply_causal_mask", "hidden scores become 0"),
        ("def init_qkv_proj(n): return nn.Linear(n, n)", "init_qkv_proj",
         "it does not return three projections"),
        ("def init_qkv_proj(n): return [nn.Linear(n, n)] * 2 + [nn.Linear(n, 5)]",
         "init_qkv_proj", "the projection of the values turns width 12 into 5"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_function_is_said(
    tmp_path: Path, text: str, name: str, problem: str
) -> None:
    assert problem in str(check_text(tmp_path, text)[name])


@pytest.mark.parametrize(
    "text",
    [
        "def make_causal_mask(n): return torch.ones(n, n).tril()",
        "def apply_causal_mask(mask, A): return A + (1 - mask) * -1e9",
        "def apply_causal_mask(mask, A): return torch.where(mask == 0, float('-inf'), A)",
        "def split_heads_qkv(Q, K, V, n):\n    def f(x): return x.unflatten(-1, (n, -1)).mT.mT"
        ".transpose(1, 2)\n    return [f(Q), f(K), f(V)]",
    ],
)
def test_another_way_to_the_same_is_right(tmp_path: Path, text: str) -> None:
    assert set(check_text(tmp_path, text).values()) == {None}


@pytest.mark.parametrize(
    ("start", "given", "what", "problem"),
    [
        ("self", "x", "is built", "A(d_model=12, n_heads=3, max_len=7): it raises TypeError"),
        ("self, d, h, n", "x.nothing", "is called", "it raises AttributeError"),
        ("self, d, h, n", "x", "is called", "forward returns Tensor: return AttentionOutput(out"),
    ],
    ids=["cannot be built", "fails while running", "a tensor instead of the output"],
)
def test_what_keeps_a_class_from_being_tried_is_said_once(
    tmp_path: Path, start: str, given: str, what: str, problem: str
) -> None:
    found = check_text(
        tmp_path,
        f"class A(nn.Module):\n    def __init__({start}): super().__init__()\n"
        f"    def forward(self, x, *, mask): return {given}\n",
    )
    assert list(found) == [what]
    assert problem in str(found[what])


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_an_output_that_is_not_finite_is_said_and_not_taken_for_a_leak(
    tmp_path: Path, value: str
) -> None:
    found = check_text(
        tmp_path,
        "from attnlab.attention.variants.dot_product import DotProduct\n"
        "class Mine(DotProduct):\n"
        "    def forward(self, x, *, mask, **more):\n"
        "        found = super().forward(x, mask=mask, **more)\n"
        f"        return found._replace(out=found.out + float('{value}'))\n",
        name="Mine",
    )
    assert list(found) == ["is finite"]
    assert f"168 of 168 outputs are not finite: out[0, 0, 0] is {value}" in str(found["is finite"])


def test_a_file_without_attention_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has nothing to check: neither a class with forward\(x,"):
        check_text(tmp_path, "def other(): pass")


def test_a_class_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no torch.nn.Module class 'Mine'. Did you mean 'Mini'\?"):
        check_text(tmp_path, "class Mini(nn.Module): pass", name="Mine")


def test_other_parameters_than_the_twins_are_named(tmp_path: Path) -> None:
    text = Path(my_attention.__file__).read_text(encoding="utf-8").replace("self.proj", "self.out")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    findings = check_file(tmp_path / "mine.py", like="dot_product")["MyAttention"]
    assert findings[-1].problem == (
        "its parameters are not dot_product's: it lacks proj.bias, proj.weight and also has"
        " out.bias, out.weight"
    )


def test_a_mutant_that_escapes_is_noticed() -> None:
    reports = check_mutants()
    assert all_noticed(reports)
    escaped = {**reports["missing scale"], "MyAttention": reports["no bug"]["MyAttention"]}
    assert not all_noticed({**reports, "missing scale": escaped})
    assert not all_noticed({**reports, "no bug": reports["missing scale"]})


@pytest.mark.parametrize(
    "text",
    [
        "def attn_scaled(A, d, h): return A / torch.sqrt(torch.tensor(d / h))",
        "def make_causal_mask(n): return torch.ones(n, n).tril().view(1, 1, n, n)",
    ],
)
def test_common_ways_to_write_it_are_right(tmp_path: Path, text: str) -> None:
    assert set(check_text(tmp_path, text).values()) == {None}


def test_calling_exit_is_a_failure(tmp_path: Path) -> None:
    found = check_text(tmp_path, "def attn_softmax(A): raise SystemExit(0)")
    assert found == {"attn_softmax": "it raises SystemExit: 0 (line 3, in attn_softmax)"}


def test_a_twin_may_have_buffers_of_its_own(tmp_path: Path) -> None:
    text = (
        Path(my_attention.__file__)
        .read_text(encoding="utf-8")
        .replace(
            "        self.n_heads = n_heads\n",
            "        self.n_heads = n_heads\n        self.register_buffer('mask', torch.ones(3))\n",
        )
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    findings = check_file(tmp_path / "mine.py", like="dot_product")["MyAttention"]
    assert [finding for finding in findings if not finding.right] == []
