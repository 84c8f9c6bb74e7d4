"""attnlab attention …, as a user gives it."""

import json
from pathlib import Path

import pytest
from command_line import Attnlab

import my_attention
from attnlab.attention import functional

FUNCTIONS = Path(functional.__file__).read_text(encoding="utf-8")
UNSCALED = "\n\ndef attn_scaled(A, n_embd, n_heads):\n    return A\n"
CLASS = Path(my_attention.__file__).read_text(encoding="utf-8")


def test_list_names_variants_and_positions(attnlab: Attnlab) -> None:
    done = attnlab("attention", "list")
    assert done.code == 0
    lines = [line.split()[0] for line in done.out.splitlines() if line]
    assert lines[0] == "attention"
    assert {"dot_product", "late_mask", "positions", "rotary"} <= set(lines)


def test_list_as_json(attnlab: Attnlab) -> None:
    found = json.loads(attnlab("attention", "list", "--json").out)
    assert found["positions"]["alibi"].startswith("ALiBi")


def test_show_tells_options_promises_and_parameters(attnlab: Attnlab) -> None:
    out = attnlab("attention", "show", "late_mask").out
    assert "breaks" in out
    assert "causal" in out
    assert "query.weight (256, 256)" in out
    assert (
        "window: a whole number of at least 2, default 64"
        in attnlab("attention", "show", "sliding_window").out
    )


def test_show_of_an_unknown_name(attnlab: Attnlab) -> None:
    done = attnlab("attention", "show", "synthesiser")
    assert (done.code, done.out) == (2, "")
    assert "no attention is called 'synthesiser'. Did you mean 'synthesizer'?" in done.err


@pytest.mark.usefixtures("checks_here")
def test_check_says_what_is_right_and_exits_with_0(attnlab: Attnlab) -> None:
    Path("mine.py").write_text(FUNCTIONS, encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert done.code == 0
    assert "12 of 12 right" in done.out


@pytest.mark.usefixtures("checks_here")
def test_check_says_what_is_wrong_and_exits_with_1(attnlab: Attnlab) -> None:
    Path("mine.py").write_text(FUNCTIONS + UNSCALED, encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert done.code == 1
    assert "10 of 12 right" in done.out
    assert "the scores are not scaled" in done.out


@pytest.mark.usefixtures("checks_here")
def test_check_one_class_as_json(attnlab: Attnlab) -> None:
    Path("mine.py").write_text(CLASS, encoding="utf-8")
    done = attnlab("attention", "check", "mine.py:MyAttention", "--like", "dot_product", "--json")
    found = json.loads(done.out)["MyAttention"]
    assert done.code == 0
    assert all(finding["right"] for finding in found)
    assert found[-1]["what"] == "equals dot_product"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("while True: pass", "it has not ended after 2 seconds (--time-limit)"),
        (
            "import ctypes; ctypes.string_at(0)",
            "it crashes: its process was ended by signal SIGSEGV",
        ),
    ],
    ids=["an endless loop", "a crash"],
)
def test_a_function_that_does_not_come_back_is_wrong_and_the_rest_is_told(
    attnlab: Attnlab, body: str, said: str
) -> None:
    right = "def pairwise_similarities(Q, K): return Q @ K.mT\n"
    Path("mine.py").write_text(f"{right}def attn_scaled(A, d, h):\n    {body}\n", encoding="utf-8")
    done = attnlab("attention", "check", "mine.py", "--time-limit", "2", "--json")
    found = {f["what"]: f for f in json.loads(done.out)["functions"]}
    assert done.code == 1
    assert found["pairwise_similarities"]["status"] == "right"
    assert found["attn_scaled"]["problem"].startswith(said)
    assert found["what comes next"]["status"] == "not checked"


@pytest.mark.slow
def test_a_file_that_never_loads_is_refused(attnlab: Attnlab) -> None:
    Path("mine.py").write_text("import os\nos.kill(os.getpid(), 9)\n", encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert (
        "mine.py crashes: its process was ended by signal SIGKILL, while it was being" in done.err
    )


def test_a_file_that_exits_without_a_word_is_named_with_its_line(attnlab: Attnlab) -> None:
    Path("mine.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert "mine.py, line 2 fails: SystemExit: os._exit(3) would end attnlab" in done.err


@pytest.mark.usefixtures("checks_here")
def test_check_takes_a_notebook_and_names_of_functions(attnlab: Attnlab) -> None:
    course = Path(__file__).parents[2] / "courses" / "attention"
    student = attnlab("attention", "check", str(course / "A2S2_student.ipynb"))
    assert student.code == 1
    assert "1 of 11 right, 10 not written yet" in student.out
    one = attnlab("attention", "check", str(course / "A2S2.ipynb"), "--only", "attn_softmax")
    assert (one.code, "1 of 1 right" in one.out) == (0, True)


@pytest.mark.usefixtures("checks_here")
def test_check_lists_what_is_missing(attnlab: Attnlab) -> None:
    Path("mine.py").write_text("def attn_softmax(A): return A.softmax(-1)\n", encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert done.code == 1
    assert "1 of 9 right, 8 missing" in done.out
    assert attnlab("attention", "check", "mine.py", "--only", "attn_softmax").code == 0
    done = attnlab("attention", "check", "mine.py", "--only", "atn_softmax")
    assert done.code == 2
    assert "Did you mean 'attn_softmax'?" in done.err


def test_check_prints_the_table_of_mutants_and_tests(attnlab: Attnlab) -> None:
    out = attnlab("attention", "check", "--mutants").out
    row = next(line for line in out.splitlines() if line.startswith("mask transposed"))
    assert row.split()[2:] == list("·····x·····x")
    assert "6 make_causal_mask" in out


def test_check_wants_one_thing_to_check(attnlab: Attnlab) -> None:
    for arguments in ([], ["mine.py", "--mutants"]):
        done = attnlab("attention", "check", *arguments)
        assert (done.code, done.err) == (2, "attnlab: give a FILE to check, or --mutants.\n")


@pytest.mark.usefixtures("checks_here")
def test_a_file_that_does_not_import_is_told_with_its_line(attnlab: Attnlab) -> None:
    Path("mine.py").write_text("x = 1\ny = 1 / 0\n", encoding="utf-8")
    done = attnlab("attention", "check", "mine.py")
    assert done.code == 2
    assert done.err == ("attnlab: mine.py, line 2 fails: ZeroDivisionError: division by zero.\n")


def test_cost_prints_tables_and_draws_a_figure(attnlab: Attnlab) -> None:
    done = attnlab(
        "attention", "cost", "linear", "aft:form=simple", "--lengths", "8,16", "--rounds", "1",
        "--d-model", "8", "--n-heads", "2", "--out", "cost.svg",
    )  # fmt: skip
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines() if line] == [
        "ms", "linear", "aft:form=simple", "±", "linear", "aft:form=simple",
        "MB", "linear", "aft:form=simple", "cost.svg",
    ]  # fmt: skip
    assert "aft:form=simple" in Path("cost.svg").read_text(encoding="utf-8")


def test_cost_refuses_before_it_measures(attnlab: Attnlab) -> None:
    for arguments, message in {
        ("--lengths", "64,a"): "--lengths '64,a': give whole numbers",
        ("--lengths", "64,1"): "--lengths '64,1': a row has at least 2 tokens",
        ("--out", "a.pdf"): "a.pdf: a figure is written as .png or .svg",
        ("--out", "no/a.png"): "there is no folder no",
        ("dot_product:windw=2",): "attention 'dot_product' has no option 'windw'",
        ("sliding_window:window",): "sliding_window:window",
        ("--n-heads", "7"): "d_model = 256 does not divide into n_heads = 7 heads",
    }.items():
        done = attnlab("attention", "cost", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert message in done.err
    assert not Path("cost.png").exists()


def test_what_a_users_class_prints_does_not_spoil_the_answer(attnlab: Attnlab) -> None:
    text = CLASS.replace("        scores = q @", "        print('hi')\n        scores = q @")
    Path("loud.py").write_text("print('loaded')\n" + text, encoding="utf-8")
    for command in (
        ["check", "loud.py"],
        ["cost", "loud.py:MyAttention", "--lengths", "8", "--rounds", "1"],
        ["show", "loud.py:MyAttention"],
    ):
        done = attnlab("attention", *command, "--json")
        assert done.code == 0, done.err
        json.loads(done.out)
        assert "loaded" in done.err


def test_costs_take_a_score_of_ones_own(attnlab: Attnlab) -> None:
    Path("mine.py").write_text("def dot(q, k): return (q * k).sum()\n", encoding="utf-8")
    done = attnlab(
        "attention", "cost", "custom:score=mine.py:dot", "--lengths", "8", "--rounds", "1"
    )
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].startswith("custom:score=mine.py:dot")
