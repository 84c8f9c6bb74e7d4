"""``attnlab classify train`` and ``label-budget``, and what they load."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Attnlab, flowing

from attnlab.runs.directory import Run
from small_bert import write_reviews, write_small_bert

pytestmark = pytest.mark.precision

TINY = [
    *("--model", "bert", "--dev", "reviews/dev.csv", "--max-len", "16", "--length", "2 steps"),
    *("--batch-size", "20"),
]
TRAIN = ["classify", "train", "reviews/train.csv", *TINY]
LINES = ["--mlm-text", "reviews/unlabeled.txt", "--set", "masked.block=16"]
BUDGET = ["classify", "label-budget", "reviews/train.csv", *TINY]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")


def test_a_classifier_is_trained_and_shown_again(attnlab: Attnlab) -> None:
    done = attnlab(*TRAIN, "--labels", "10", "--lr", "1e-3", "--seed", "3")
    assert done.code == 0, done.err
    assert "accuracy" in done.out
    assert "test: none" in done.out
    assert "new classifier head: " in done.err
    run = Run.open(Path(done.out.splitlines()[-1]))
    assert run.config["settings"]["labels"] == 10
    again = attnlab(*TRAIN, "--labels", "10", "--lr", "1e-3", "--seed", "3")
    assert again.out == done.out


def test_without_arguments_the_defaults_are_used_and_named(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names stand for small files here."""
    names = {"all-MiniLM-L6-v2": "bert", "rotten-tomatoes": "reviews/train.csv"}
    (tmp_path / "names.json").write_text(json.dumps(names))
    monkeypatch.setenv("ATTNLAB_ASSETS", str(tmp_path / "names.json"))
    quick = ["--length", "2 steps", "--max-len", "16"]
    done = attnlab("classify", "train", *quick)
    assert done.code == 0, done.err
    first, *more = done.err.splitlines()
    assert first.startswith("no data given: rotten-tomatoes, 8,530 sentences of film reviews")
    assert "; no model given: all-MiniLM-L6-v2, BERT" in first
    assert f"rotten-tomatoes is substituted by {tmp_path}/reviews/train.csv" in "".join(more)
    assert "dev (a tenth of rotten-tomatoes set aside, not trained on)" in flowing(done.out)
    given = attnlab("classify", "train", "reviews/train.csv", "--model", "bert", *quick)
    assert "given" not in given.err


def test_a_file_too_small_for_dev_is_told(attnlab: Attnlab) -> None:
    Path("few.csv").write_text("good,the food was superb\nbad,the food was awful\n")
    done = attnlab("classify", "train", "few.csv", *TINY[:2], *TINY[4:])
    assert done.code == 0, done.err
    assert "dev: none" in done.out


def test_unlabelled_text_is_learned_beside(attnlab: Attnlab) -> None:
    done = attnlab(*TRAIN, *LINES, "--alpha", "0.25", "--name", "j")
    assert done.code == 0, done.err
    settings = Run.open(Path("runs/j")).config["settings"]["masked"]
    assert settings["text"] == str(Path("reviews/unlabeled.txt").resolve())
    assert settings["alpha"] == 0.25


def test_new_texts_are_told_and_written(attnlab: Attnlab) -> None:
    attnlab(*TRAIN, "--name", "c")
    done = attnlab("classify", "predict", "runs/c", "reviews/test.csv", "--outputs", "told.txt")
    assert done.code == 0, done.err
    assert "accuracy" in done.out
    assert len(Path("told.txt").read_text().splitlines()) == 25


def test_a_score_on_the_training_texts_is_not_called_a_test_score(attnlab: Attnlab) -> None:
    attnlab(*TRAIN, "--name", "c")
    for name in ("one", "two"):
        words = ("classify", "predict", "runs/c", "reviews/train.csv", "--name", name)
        done = attnlab(*words, *(() if name == "one" else ("--columns", "label,text")))
        assert done.code == 0, done.err
        assert "train: 60 of 60 rows were trained on: this is not a test score." in done.out
        assert "test: none" not in done.out
        assert "3 of 60 shown" in done.out
    warning = "60 of 60 rows were trained on"
    assert warning in flowing(attnlab("runs", "show", "one").out)
    assert warning in flowing(attnlab("runs", "compare", "one", "two").out)
    page = attnlab("runs", "report", "one").out.strip()
    assert warning in Path(page).read_text()
    both = attnlab("runs", "report", "one", "two", "--out", "both").out.strip()
    assert warning in Path(both).read_text()


def test_a_test_file_that_was_trained_on_is_noticed_at_once(attnlab: Attnlab) -> None:
    done = attnlab(*TRAIN, "--test", "reviews/train.csv")
    assert "train = test: the same 60 rows" in flowing(done.out)


@pytest.mark.slow
def test_a_label_budget_is_compared_budget_by_budget(attnlab: Attnlab) -> None:
    words = [*BUDGET, "--mlm-text", "reviews/unlabeled.txt", "--set", "base.masked.block=16"]
    words += ["--labels", "10,all", "--alpha", "0,0.5", "--seeds", "1", "--set", "least_steps=2"]
    done = attnlab(*words)
    assert done.code == 0, done.err
    assert "10 labels" in done.out
    assert "all labels" in done.out
    page = Path(done.out.splitlines()[-1])
    assert "label-budget" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*TRAIN, "--set", "train=''"], "give labelled text"),
        ([*TRAIN, "--model", ""], "there is no model to fine-tune"),
        (
            ["classify", "train", "rotten-tomatos"],
            "Did you mean 'rotten-tomatoes'? Datasets here: no",
        ),
        (
            ["classify", "train", "boolq:validation"],
            "has no split 'validation'. Give boolq:train or boolq:dev or boolq:test.",
        ),
        ([*TRAIN, "--columns", "label,text", "--text-column", "t"], "exclude each other"),
        ([*TRAIN, "--text-column", "body"], "no column is called 'body' in"),
        ([*TRAIN, "--dev-share", "0.6"], "dev_share = 0.6 is not possible"),
        ([*TRAIN, "--max-len", "30"], "max_len = 30 is more than the 20 positions"),
        ([*TRAIN, "--alpha", "-1"], "--alpha -1: masked.alpha = -1.0 is not possible"),
        ([*TRAIN, "--mlm-text", "no.txt"], "/no.txt"),
        ([*BUDGET, "--labels", "ten"], "--labels 'ten': give whole numbers"),
        ([*TRAIN, "--alpha", "0.5"], "--alpha 0.5 needs unlabelled text to learn from: give"),
        ([*TRAIN, "--columns", "text"], "has 2 columns; expected 1 column: text"),
        ([*BUDGET, "--alpha", "0,-1"], "attnlab: --alpha 0,-1: alphas = [0.0, -1.0] is not"),
        ([*BUDGET, "--alpha", "0.5"], "needs unlabelled text"),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_exit_code_2(
    attnlab: Attnlab, words: list[str], message: str
) -> None:
    done = attnlab(*words)
    assert done.code == 2
    assert message in flowing(done.err)
    assert "Traceback" not in done.err
    assert not list(Path("runs").glob("*"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "1,good\n2,\n2,bad,\n", "/a.csv, line 2: the text is empty. Write one, or remove"
         " the record. 1 more of 3 records cannot be used: line 3 ('2, bad, ' has 3 columns;"
         " expected 2 columns: label, text)."),
        ("a.tsv", "good\t1\n\t\nbad\n", "/a.tsv, line 2: the text is empty. Write one, or remove"
         " the record. 1 more of 3 records cannot be used: line 3 ('bad' has 1 column; expected"
         " 2 columns: text, label)."),
        ("a.jsonl", '{"question": "a", "passage": "b", "answer": true}\n{"question": "c"}\n[]\n',
         "/a.jsonl, line 2: the label is missing, but that of line 1 is 'true'. Give every example"
         " a label, or none. 1 more of 3 records cannot be used: line 3 ('[]' is not a JSON"
         " object)."),
    ],
    ids=["csv", "tsv", "jsonl"],
)  # fmt: skip
def test_every_bad_row_is_named_before_a_model_is_read(
    attnlab: Attnlab, name: str, content: str, message: str
) -> None:
    Path(name).write_text(content)
    for words in (
        [name],
        ["reviews/train.csv", "--dev", name],
        ["reviews/train.csv", "--test", name],
    ):
        done = attnlab("classify", "train", *words, "--model", "none")
        assert done.code == 2
        assert message in flowing(done.err)
    assert not list(Path("runs").glob("*"))


@pytest.mark.slow
def test_training_loads_neither_transformers_nor_tokenizers_nor_peft(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from attnlab.cli import main\n"
        f"sys.argv = ['attnlab', *{[*TRAIN, *LINES]!r}]\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "print('loaded', {'transformers', 'tokenizers', 'peft'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded set()"


@pytest.mark.slow
def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    words = [*TRAIN, *LINES, "--set", "training.precision=float64", "--set", "training.threads=1"]
    one, two = (tmp_path / name for name in ("one", "two"))
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    for folder, module in ((one, []), (two, torchrun)):
        command = [sys.executable, "-m", *module, "attnlab", *words, "--runs", str(folder)]
        done = subprocess.run(
            [*command, "--name", "run", "--length", "8 steps"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    first, second = (Run.open(folder / "run").predictions("dev") for folder in (one, two))
    assert [row["loss"] for row in first] == pytest.approx(
        [row["loss"] for row in second], abs=1e-9
    )
