"""The yelp course's files: both commands as printed, the models, the data, every mistake."""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import YELP, exit_code, forget, load
from torch.utils.data import DataLoader

from attnlab.runs.directory import Run
from attnlab.runs.replacement import is_own_file
from attnlab.training.optimization import Optimization
from small_bert import write_reviews, write_small_bert

pytestmark = pytest.mark.precision

Go = Callable[..., tuple[int, str, str]]

COMMON = [
    *("--model_type", "bert", "--model_name_or_path", "bert", "--task_name", "yelp"),
    *("--do_train", "--do_eval", "--data_dir", "reviews", "--per_gpu_train_batch_size", "32"),
    *("--learning_rate", "3e-3", "--num_train_epochs", "3", "--max_seq_length", "16"),
    *("--output_dir", "out", "--evaluate_during_training", "--overwrite_output_dir"),
]
JOINT = [
    *COMMON,
    *("--logging_steps", "2", "--train_data_file", "reviews/unlabeled.txt", "--block_size", "16"),
    *("--mlm_alpha", "0.5", "--line_by_line"),
]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Go:
    """Return a function that runs `python FILE WORDS` in a folder with a model and reviews."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(YELP))
    forget()
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")

    def run(file: str, *words: str) -> tuple[int, str, str]:
        module = load(file, course=YELP)
        monkeypatch.setattr(sys, "argv", [file, *words])
        return exit_code(module), *capsys.readouterr()

    return run


def test_the_first_command_trains_keeps_the_best_step_and_scores_dev(go: Go) -> None:
    code, out, err = go("classifier.py", *COMMON, "--logging_steps", "2")
    assert code == 0, err
    assert "yelp dev: accuracy " in out
    assert "of 25, always " in out
    assert "yelp test: accuracy " in out
    run = Run.open(Path("out"))
    assert run.record["steps"] == 6
    assert run.config["settings"]["training"]["evaluate_every"] == 2
    assert run.record["best_step"] in (2, 4, 6)
    assert (Path("out") / "model" / "model.safetensors").is_file()


def test_the_second_command_trains_jointly(go: Go) -> None:
    code, _, err = go("classifier_mlm.py", *JOINT)
    assert code == 0, err
    masked = Run.open(Path("out")).config["settings"]["masked"]
    assert masked == {
        "text": str(Path("reviews/unlabeled.txt").resolve()),
        "alpha": 0.5,
        "share": 0.15,
        "block": 16,
        "line_by_line": True,
    }
    code, _, err = go("classifier_mlm.py", *[word for word in JOINT if word != "--line_by_line"])
    assert code == 0, err
    assert not Run.open(Path("out")).config["settings"]["masked"]["line_by_line"]


def test_the_defaults_are_the_documents(go: Go) -> None:
    options = (
        load("classifier.py", course=YELP)
        .parser_of("")
        .parse_args(
            ["--model_name_or_path", "bert", "--data_dir", "reviews", "--output_dir", "out"]
        )
    )
    assert options.learning_rate == 3e-5
    assert options.num_train_epochs == 3
    assert options.max_seq_length == 128
    assert options.per_gpu_train_batch_size == 32
    del go


def test_fifty_labels_and_a_test_file(go: Go) -> None:
    shutil.copy("reviews/dev.csv", "other.csv")
    code, out, err = go("classifier.py", *COMMON, "--labels", "50", "--test_file", "other.csv")
    assert code == 0, err
    assert "yelp test: accuracy" in out
    run = Run.open(Path("out"))
    assert run.record["ledger"]["splits"]["train"]["n"] == 50
    assert run.config["settings"]["test"] == str(Path("other.csv").resolve())
    assert [row["gold"] for row in run.predictions("test")] == [
        row["gold"] for row in run.predictions("dev")
    ]


def test_the_test_set_of_the_data_folder_is_evaluated_once(go: Go) -> None:
    code, out, err = go("classifier.py", *COMMON)
    assert code == 0, err
    for split in ("dev", "test"):
        assert re.search(rf"yelp {split}: accuracy 0\.\d{{4}} \[0\.\d+, 0\.\d+\] of 25", out), out
    run = Run.open(Path("out"))
    assert run.config["settings"]["test"] == str(Path("reviews/test.csv").resolve())
    assert run.record["test"] == "evaluated once"
    assert {"dev", "test"} == run.record["scores"].keys()


def test_without_a_test_set_the_result_says_so(go: Go) -> None:
    Path("reviews/test.csv").unlink()
    code, out, err = go("classifier.py", *COMMON)
    assert code == 0, err
    assert "yelp test: none" in out


def test_a_test_set_may_lack_labels_and_two_are_refused(go: Go) -> None:
    texts = [line.partition(",")[2] for line in Path("reviews/test.csv").read_text().splitlines()]
    Path("reviews/test.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    code, _, err = go("classifier.py", *COMMON)
    assert (code, "several of test.csv, test.tsv, test.jsonl: keep one" in err) == (2, True)
    Path("reviews/test.csv").unlink()
    code, out, err = go("classifier.py", *COMMON)
    assert code == 0, err
    assert "yelp test: no labels;" in out


def test_the_same_command_shows_a_finished_run_and_other_settings_need_the_flag(go: Go) -> None:
    words = [word for word in COMMON if word != "--overwrite_output_dir"]
    assert go("classifier.py", *words)[0] == 0
    written = (Path("out") / "record.json").stat().st_mtime_ns
    assert go("classifier.py", *COMMON)[0] == 0
    assert (Path("out") / "record.json").stat().st_mtime_ns == written
    code, _, err = go("classifier.py", *words, "--seed", "1")
    assert code == 2
    assert "out holds a run of other settings (training.seed). Choose another" in err
    assert "replace the run with --overwrite_output_dir" in err
    assert go("classifier.py", *COMMON, "--seed", "1")[0] == 0
    assert Run.open(Path("out")).config["settings"]["training"]["seed"] == 1


def test_evaluating_alone_shows_what_is_there(go: Go) -> None:
    words = [word for word in COMMON if word != "--do_train"]
    code, _, err = go("classifier.py", *words)
    assert code == 2
    assert "out" in err
    go("classifier.py", *COMMON)
    code, out, _ = go("classifier.py", *words)
    assert code == 0
    assert "yelp dev: accuracy" in out


def test_a_mistake_does_not_cost_the_run_that_was_to_be_replaced(go: Go) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    record = (Path("out") / "record.json").read_text()
    wrong = [
        "nowhere" if word == "bert" and COMMON[i - 1] != "--model_type" else word
        for i, word in enumerate(COMMON)
    ]
    code, _, err = go("classifier.py", *wrong, "--seed", "1")
    assert code == 2, err
    assert (Path("out") / "record.json").read_text() == record
    assert not list(Path().glob(".out*"))


def what_is_there(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def killed_in(monkeypatch: pytest.MonkeyPatch, go: Go, owner: object, name: str, call: int) -> None:
    """Give the command with seed 1, and end it in the n-th call of a function, as a kill would."""
    calls, whole = iter(range(1, 1000)), getattr(owner, name)

    def die(*given: Any, **named: Any) -> Any:
        if next(calls) == call:
            raise SystemExit(137)
        return whole(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        patch.setattr("attnlab.runs.directory.Run.discard_if_untouched", lambda _: None)
        assert go("classifier.py", *COMMON, "--seed", "1")[0] == 137


def seed_of(folder: str) -> int:
    return int(Run.open(Path(folder)).config["settings"]["training"]["seed"])


@pytest.mark.parametrize("step", [1, 4])
def test_a_run_goes_only_when_its_successor_is_finished(
    go: Go, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    Path("out/notes.txt").write_text("mine")
    before = what_is_there(Path("out"))
    killed_in(monkeypatch, go, Optimization, "step", step)
    assert what_is_there(Path("out")) == before
    code, _, err = go("classifier.py", *COMMON, "--seed", "1")
    assert code == 0, err
    assert seed_of("out") == 1
    assert Path("out/notes.txt").read_text() == "mine"
    assert not list(Path().glob(".out*"))


def test_a_killed_successor_resumes_with_the_same_command_and_ends_the_same(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*COMMON, "--logging_steps", "2", "--seed", "1"]
    assert go("classifier.py", *words, "--output_dir", "undisturbed")[0] == 0
    assert go("classifier.py", *COMMON)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("attnlab.models.bert_format.write_bert", lambda *_, **__: sys.exit(137))
        forget()
        assert go("classifier.py", *words)[0] == 137
    forget()
    code, _, err = go("classifier.py", *words)
    assert code == 0, err
    assert "resumed at step 6 of 6" in err
    for file in ("model/model.safetensors", "predictions/dev.jsonl"):
        assert (Path("out") / file).read_bytes() == (Path("undisturbed") / file).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "call"),
    [("unlink", 1), ("unlink", 3), ("rmdir", 1), ("rename", 1), ("rename", 2)],
    ids=str,
)
@pytest.mark.parametrize("again", [["--seed", "1"], ["--seed", "2"]], ids=["same", "another"])
def test_a_kill_while_the_new_run_is_put_in_place_loses_nothing(
    go: Go, monkeypatch: pytest.MonkeyPatch, name: str, call: int, again: list[str]
) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    for file in ("notes.txt", "model/mine.txt", "figures/mine.png"):
        (Path("out") / file).parent.mkdir(exist_ok=True)
        (Path("out") / file).write_text(file)
    code, _, err = go("classifier.py", *COMMON[:-1], "--seed", "1", "--output_dir", "new")
    assert code == 0, err
    Path(".out.replacement").mkdir()
    Path("new").rename(".out.replacement/out")  # finished, when the command before was killed
    killed_in(monkeypatch, go, Path, name, call)
    code, _, err = go("classifier.py", *COMMON, *again)
    assert code == 0, err
    assert seed_of("out") == int(again[1])
    assert Run.open(Path("out")).finished
    for file in ("notes.txt", "model/mine.txt", "figures/mine.png"):
        assert (Path("out") / file).read_text() == file
    assert not list(Path().glob(".out*"))


def test_a_successor_that_is_no_longer_wanted_goes(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    killed_in(monkeypatch, go, Optimization, "step", 2)
    code, _, err = go("classifier.py", *COMMON, "--seed", "2")
    assert code == 0, err
    assert seed_of("out") == 2
    assert not list(Path().glob(".out*"))


def test_every_file_of_a_run_is_known_as_our_own(go: Go) -> None:
    """A file that attnlab writes and does not know would stay when its run is replaced."""
    assert go("classifier_mlm.py", *JOINT)[0] == 0
    strangers = [path for path in what_is_there(Path("out")) if not is_own_file(path)]
    assert strangers == []


def test_an_empty_folder_is_as_good_as_none(go: Go) -> None:
    Path("out").mkdir()
    code, _, err = go("classifier.py", *COMMON)
    assert code == 0, err


def test_a_folder_written_another_way_is_the_same(go: Go) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    written = (Path("out") / "record.json").stat().st_mtime_ns
    other = [
        "./bert/" if word == "bert" and COMMON[i - 1] != "--model_type" else word
        for i, word in enumerate(COMMON)
    ]
    assert go("classifier.py", *other, "--data_dir", "./reviews")[0] == 0
    assert (Path("out") / "record.json").stat().st_mtime_ns == written


def test_changed_data_is_trained_on_again_with_the_flag(go: Go) -> None:
    assert go("classifier.py", *COMMON)[0] == 0
    data = Path("reviews/dev.csv")
    data.write_text(data.read_text().replace("awful", "lovely"))
    before = Run.open(Path("out")).config["resolved"]["data"]
    assert go("classifier.py", *COMMON)[0] == 0
    assert Run.open(Path("out")).config["resolved"]["data"] != before


def test_evaluating_alone_insists_on_the_settings(go: Go) -> None:
    go("classifier.py", *COMMON)
    words = [word for word in COMMON if word != "--do_train"]
    code, _, err = go("classifier.py", *words, "--test_file", "reviews/dev.csv")
    assert code == 2
    assert "was made with other settings (test): train it first" in err


def test_an_output_folder_that_is_a_file_is_refused(go: Go) -> None:
    Path("out").write_text("a file")
    code, _, err = go("classifier.py", *COMMON)
    assert code == 2
    assert "out is a file. Choose a folder." in err


def test_a_folder_that_is_no_run_is_never_overwritten(go: Go) -> None:
    Path("out").mkdir()
    Path("out/thesis.txt").write_text("years of work")
    code, _, err = go("classifier.py", *COMMON)
    assert code == 2
    assert "is no run of this program, so it is not overwritten" in err
    assert Path("out/thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["—model_type", "bert"], "—model_type has the wrong dash, as printed texts do: write --"),
        (["-model_type", "bert"], "-model_type has the wrong dash"),
        ([*COMMON, "--learning_rate", "-1"], "training.optimizer.lr = -1.0 is not possible"),
        ([*COMMON, "--labels", "-3"], "labels = -3 is not possible"),
        ([*COMMON, "--data_dir", "nowhere"], "nowhere holds none of train.csv, train.tsv"),
        ([*COMMON, "--max_seq_length", "21"], "max_len = 21 is more than the 20 positions"),
        (
            [word for word in COMMON if word not in ("--do_train", "--do_eval")],
            "there is nothing to do",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(go: Go, words: list[str], message: str) -> None:
    code, _, err = go("classifier.py", *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert not Path("out").exists()


def test_the_data_comes_as_tensors(go: Go) -> None:
    del go
    data, mlm = load("data_utils.py", course=YELP), load("mlm_utils.py", course=YELP)
    words = data.load_tokenizer("bert")
    examples, classes = data.load_examples("reviews/train.csv")
    dataset = data.convert_examples_to_features(examples, classes, words, 16)
    tokens, mask, types, labels = next(iter(DataLoader(dataset, 7)))
    assert tokens.shape == mask.shape == types.shape == (7, 16)
    assert labels.shape == (7,)
    assert tokens[:, 0].tolist() == [words.cls] * 7
    assert bool((tokens[mask == 0] == words.pad).all())
    lines = mlm.LineByLineTextDataset(words, "reviews/unlabeled.txt", 12)
    assert len(lines) == 40
    blocks = mlm.TextDataset(words, "reviews/unlabeled.txt", 12)
    assert {len(blocks[i]) for i in range(len(blocks))} == {12}
    inputs, labels = mlm.mask_tokens([lines[i] for i in range(40)], words, 0.5)
    chosen = labels != -100
    assert bool(chosen.any())
    assert not bool((chosen & (inputs == words.pad)).any())
    rows = [lines[i] for i in range(40)]
    torch.manual_seed(0)
    first, second = (mlm.mask_tokens(rows, words, 0.5)[0] for _ in range(2))
    torch.manual_seed(0)
    again, _ = mlm.mask_tokens(rows, words, 0.5)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_a_wrong_flag_takes_two_lines(go: Go) -> None:
    code, _, err = go("classifier.py", "--nonsense")
    assert (code, len(err.splitlines())) == (2, 2)
    assert "the following arguments are required: --model_name_or_path" in err
