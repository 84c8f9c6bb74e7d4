"""The checker of students' files notices every bug of the library, and names what it does."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def check_text(tmp_path: Path, text: str, **how: Any) -> dict[str, str | None]:
    """Check a file with this text and say what was found about what it has."""
    file = tmp_path / "mine.py"
    file.write_text("import torch\nfrom torch import nn\n" + text, encoding="utf-8")
    findings = [finding for part in check_file(file, **how).values() for finding in part]
    return {f.what: f.problem for f in findings if f.status != "missing"}


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
        only=["Mine"],
    )
    assert list(found) == ["is finite"]
    assert f"168 of 168 outputs are not finite: out[0, 0, 0] is {value}" in str(found["is finite"])


def test_a_file_without_attention_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has nothing to check: neither a class with forward\(x,"):
        check_text(tmp_path, "def other(): pass")


def test_a_class_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no torch.nn.Module class 'Mine'. Did you mean 'Mini'\?"):
        check_text(tmp_path, "class Mini(nn.Module): pass", only=["Mine"])


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


@pytest.fixture(autouse=True)
def _own_path() -> Iterator[None]:
    """Take folders of students off Python's path again."""
    before = sys.path[:]
    yield
    sys.path[:] = before


def statuses(file: Path, **how: Any) -> dict[str, str]:
    return {f.what: f.status for part in check_file(file, **how).values() for f in part}


class TestMissingAndUnwritten:
    TEXT = (
        "def pairwise_similarities(Q, K): return Q @ K.transpose(-2, -1)\n"
        "def attn_scaled(A, n_embd, n_heads): pass\n"
        "def attn_softmx(A): return A.softmax(-1)\n"
        "def merge_heads(x): raise NotImplementedError('your turn')\n"
        "def self_attention(Q, K, V, n_heads, causal): return attn_scaled(Q @ K.mT, 1, 1) @ V\n"
    )

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "mine.py").write_text(self.TEXT, encoding="utf-8")
        return tmp_path / "mine.py"

    def test_missing_is_not_unwritten_and_unwritten_is_not_wrong(self, file: Path) -> None:
        found = statuses(file)
        assert {name for name, status in found.items() if status == "missing"} == {
            "attn_softmax", "compute_outputs", "make_causal_mask", "apply_causal_mask",
            "split_heads",
        }  # fmt: skip
        assert found["pairwise_similarities"] == "right"
        unwritten = {name for name, status in found.items() if status == "not written yet"}
        assert unwritten == {"attn_scaled", "merge_heads", "self_attention"}

    def test_the_sentences_say_what_to_do(self, file: Path) -> None:
        (findings,) = check_file(file).values()
        said = {finding.what: finding.problem for finding in findings}
        assert "no function attn_softmax. Did you mean 'attn_softmx'?" in str(said["attn_softmax"])
        assert said["attn_scaled"] == "it returns nothing"
        assert said["merge_heads"] == "your turn (line 4, in merge_heads)"
        assert said["self_attention"] == "it calls attn_scaled, which must be written first"

    def test_only_some_are_looked_at(self, file: Path) -> None:
        assert statuses(file, only=["pairwise_similarities"]) == {"pairwise_similarities": "right"}
        assert statuses(file, only=["split_heads"]) == {"split_heads": "missing"}

    def test_a_class_without_a_body_is_not_written_yet(self, tmp_path: Path) -> None:
        for body in ("pass", "raise NotImplementedError"):
            for mask in (", *, mask", ""):
                text = (
                    "class A(nn.Module):\n    def __init__(self, d, h, n): super().__init__()\n"
                    f"    def forward(self, x{mask}): {body}\n"
                )
                file = tmp_path / "a.py"
                file.write_text(f"from torch import nn\n{text}", encoding="utf-8")
                assert statuses(file) == {"is called": "not written yet"}


STEPS = """import math, torch
def pairwise_similarities(Q, K): return Q @ K.mT
def attn_scaled(A, n_embd, n_heads): return A / math.sqrt(n_embd / n_heads)
def attn_softmax(A): return A.softmax(-1)
def split_heads(x, n): return x.unflatten(-1, (n, -1)).transpose(1, 2)
def split_heads_qkv(Q, K, V, n): return split_heads(Q, n), split_heads(K, n), split_heads(V, n)
def merge_heads(x): return x.transpose(1, 2).flatten(2)
def make_causal_mask(n): return torch.ones(n, n).tril()
def apply_causal_mask(mask, A): return A + (1 - mask) * -1e9
def self_attention(Q, K, V, n_heads, causal):
    n_embd, (Q, K, V) = Q.shape[-1], split_heads_qkv(Q, K, V, n_heads)
    A = attn_scaled(pairwise_similarities(Q, K), n_embd, n_heads)
    A = apply_causal_mask(make_causal_mask(A.shape[-1]), A) if causal else A
    return merge_heads(attn_softmax(A) @ V)
"""


class TestWrongElsewhere:
    def found(self, tmp_path: Path, *changes: tuple[str, str]) -> dict[str, tuple[str, str]]:
        text = STEPS
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")
        (findings,) = check_file(tmp_path / "mine.py").values()
        return {f.what: (f.status, f.problem or "") for f in findings if f.status != "missing"}

    def test_nothing_is_wrong(self, tmp_path: Path) -> None:
        assert set(self.found(tmp_path).values()) == {("right", "")}

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ((" / math.sqrt(n_embd / n_heads)", ""), "attn_scaled"),
            ((".softmax(-1)", ".softmax(-2)"), "attn_softmax"),
            (("(n, -1)).transpose(1, 2)", "(-1, n)).permute(0, 3, 1, 2)"), "split_heads"),
            (("return x.transpose(1, 2).flatten(2)", "return x.oops"), "merge_heads"),
            (("ones(n, n).tril()", "ones(n, n).triu()"), "make_causal_mask"),
            (("(1 - mask) * -1e9", "mask * -1e9"), "apply_causal_mask"),
        ],
    )
    def test_what_is_right_but_for_a_function_that_it_calls_is_said(
        self, tmp_path: Path, change: tuple[str, str], name: str
    ) -> None:
        found = self.found(tmp_path, change)
        said = f"it is right but for {name}, which it calls"
        assert found["self_attention"] == ("wrong elsewhere", said)
        assert found[name][0] == "wrong"

    def test_a_mistake_of_its_own_stays_one(self, tmp_path: Path) -> None:
        scale = (" / math.sqrt(n_embd / n_heads)", "")
        found = self.found(tmp_path, scale, ("if causal", "if not causal"))
        assert found["self_attention"][0] == "wrong"


def write_notebook(path: Path, *cells: str) -> Path:
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    made.insert(0, {"cell_type": "markdown", "source": ["# Title"]})
    path.write_text(json.dumps({"cells": made}), encoding="utf-8")
    return path


SOFTMAX = "def attn_softmax(A):\n    return F.softmax(A, dim=AXIS)\n"


class TestNotebooks:
    def test_only_what_the_functions_need_is_run(self, tmp_path: Path) -> None:
        file = write_notebook(
            tmp_path / "A2S2.ipynb",
            "!pip install torch\n%matplotlib inline\nimport torch.nn.functional as F",
            "%%bash\necho this is no Python at all",
            "import no_such_module_of_a_students_own",
            "AXIS = -1\nimport torch?",
            SOFTMAX,
            "while True: pass",
            "losses = [train() for AXIS in range(9)]",
        )
        assert statuses(file, only=["attn_softmax"]) == {"attn_softmax": "right"}

    def test_a_failure_names_cell_and_line(self, tmp_path: Path) -> None:
        wrong = "import torch\n\ndef attn_softmax(A):\n    return A.sofmax(-1)\n"
        file = write_notebook(tmp_path / "a.ipynb", "x = 1", wrong)
        ((finding,),) = check_file(file, only=["attn_softmax"]).values()
        assert "(code cell 2, line 4, in attn_softmax)" in str(finding.problem)

    @pytest.mark.parametrize(
        ("cells", "message"),
        [
            (["AXIS = 1 / 0", SOFTMAX], r"a.ipynb, code cell 1, line 1 fails: ZeroDivisionError"),
            (["def attn_softmax(A:\n    return A"], r"a.ipynb, code cell 1, line 1: "),
            (["x = 1"], "has nothing to check"),
        ],
    )
    def test_what_cannot_be_read_is_refused(
        self, tmp_path: Path, cells: list[str], message: str
    ) -> None:
        with pytest.raises(UserError, match=message):
            check_file(write_notebook(tmp_path / "a.ipynb", *cells))

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.ipynb").write_text("print(1)", encoding="utf-8")
        with pytest.raises(UserError, match="is no notebook: it holds no JSON with cells"):
            check_file(tmp_path / "a.ipynb")
        (tmp_path / "a.txt").touch()
        with pytest.raises(UserError, match=r"neither a Python file \(.py\) nor a notebook"):
            check_file(tmp_path / "a.txt")

    @pytest.mark.parametrize(
        "start",
        [
            "get_ipython().system('pip install torch')",
            "#!/usr/bin/env python\n# coding: utf-8\n\n# In[1]:",
            "# %% [markdown]\n# # Attention\n\n# %%",
            '"""A2S2.ipynb\n\nAutomatically generated by Colab.\n"""\n\n!git clone https://x.org/a',
        ],
        ids=["a magic", "Jupyter", "jupytext", "Colab"],
    )
    def test_a_notebook_downloaded_as_python_is_read_alike(
        self, tmp_path: Path, start: str
    ) -> None:
        file, code = tmp_path / "A2S2.py", f"AXIS = -1\n{SOFTMAX}train()\n"
        file.write_text(f"{start}\nimport torch.nn.functional as F\n{code}", encoding="utf-8")
        assert statuses(file, only=["attn_softmax"]) == {"attn_softmax": "right"}

    def test_a_misspelt_function_is_named(self, tmp_path: Path) -> None:
        misspelt = "def attn_sofmax(A):\n    return A.softmax(-1)\n"
        file = write_notebook(tmp_path / "a.ipynb", misspelt, "@no_such\ndef attn_softmaxx(): ...")
        ((finding,),) = check_file(file, only=["attn_softmax"]).values()
        assert "has no function attn_softmax. Did you mean 'attn_sofmax'?" in str(finding.problem)


PLAIN = """import math, torch
from torch import nn

class MLP(nn.Module):
    def __init__(self, d): super().__init__(); self.l = nn.Linear(d, d)
    def forward(self, x): return self.l(x)

class MyAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super().__init__()
        self.h = n_heads
        self.k, self.q, self.v, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.mT / math.sqrt(C // self.h)
        scores = scores.masked_fill(torch.ones(T, T).tril() == 0, -math.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
"""


class TestPlainLayers:
    def check(self, tmp_path: Path, old: str = "", new: str = "", **how: Any) -> dict[str, str]:
        assert old in PLAIN
        (tmp_path / "plain.py").write_text(PLAIN.replace(old, new), encoding="utf-8")
        findings = check_file(tmp_path / "plain.py", **how)["MyAttention"]
        return {finding.what: finding.problem or "" for finding in findings}

    def test_a_right_one_keeps_every_promise(self, tmp_path: Path) -> None:
        found = self.check(tmp_path)
        assert set(found.values()) == {""}
        assert {"hides the future", "teaches every parameter"} <= found.keys()
        assert "ignores padding" not in found

    def test_one_with_a_config_or_a_length_is_built(self, tmp_path: Path) -> None:
        length = self.check(tmp_path, "n_heads, dropout=0.1", "n_heads, block_size")
        start = "d_model, n_heads, dropout=0.1):\n        super"
        config = "config):\n        d_model, n_heads = config.n_embd, config.n_head\n        super"
        assert set(length.values()) == set(self.check(tmp_path, start, config).values()) == {""}

    def test_it_is_compared_with_a_variant(self, tmp_path: Path) -> None:
        names = PLAIN.replace("self.out", "self.proj").replace("self.k", "self.key")
        names = names.replace("self.q", "self.query").replace("self.v", "self.value")
        (tmp_path / "a.py").write_text(names, encoding="utf-8")
        assert set(statuses(tmp_path / "a.py", like="dot_product").values()) == {"right"}
        (tmp_path / "a.py").write_text(names.replace("/ math.sqrt(C // self.h)", ""), "utf-8")
        findings = check_file(tmp_path / "a.py", like="dot_product")["MyAttention"]
        assert "the scores are not scaled" in str(findings[-1].problem)

    @pytest.mark.parametrize(
        ("old", "new", "what", "problem"),
        [
            ("== 0", "== 2", "hides the future", "the future is seen"),
            (
                "q @ k.mT",
                "0 * (q @ k.mT)",
                "teaches every parameter",
                "reaches k.bias, k.weight, q",
            ),
            ("q @ k.mT", "q @ q.mT", "teaches every parameter", "no gradient reaches k.bias, k.w"),
            ("q @ k.mT", "q @ k.detach().mT", "teaches every parameter", "k.bias, k.weight"),
        ],
        ids=["no mask", "no scores", "keys unused", "keys detached"],
    )
    def test_a_bug_is_noticed(
        self, tmp_path: Path, old: str, new: str, what: str, problem: str
    ) -> None:
        assert problem in self.check(tmp_path, old, new)[what]
