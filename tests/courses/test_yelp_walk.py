"""The yelp course around its commands: splits, the table, the zip, and what STUDENT.md prints."""

import csv
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from course_files import YELP, exit_code, forget, load

from attnlab.cli.packing import pack
from attnlab.errors import UserError
from attnlab.runs.directory import Run, RunPlace
from small_bert import TELLING, write_reviews

Go = Callable[..., tuple[int, str, str]]
SPLITS = ("train", "dev", "test")


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Go:
    """Return what runs `python FILE WORDS` next to a folder of reviews."""
    monkeypatch.chdir(tmp_path)
    write_reviews(tmp_path / "reviews", train=100)
    forget()

    def run(file: str, *words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [file, *words])
        return exit_code(load(file, course=YELP)), *capsys.readouterr()

    return run


def table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def texts(path: Path) -> list[str]:
    return [text for _, text in table(path)]


def test_a_text_of_test_or_dev_is_trained_on_nowhere(go: Go) -> None:
    source = Path("reviews/train.csv")
    rows = table(source)
    dev = texts(Path("reviews/dev.csv"))
    rows += [[label, f" {text.upper()} "] for label, text in rows[:50]]  # the same for a model
    rows += [["1", dev[0]]]
    with source.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with Path("reviews/unlabeled.txt").open("a") as file:
        file.writelines(f"{text}\n" for text in [*dev, *(text for _, text in rows)])
    words = ["--dev_file", "reviews/dev.csv", "--unlabeled_file", "reviews/unlabeled.txt"]
    code, out, err = go("split_data.py", str(source), "data", *words, "--test_rows", "20")
    assert code == 0, err
    found = {
        split: {t.strip().lower() for t in texts(Path(f"data/{split}.csv"))} for split in SPLITS
    }
    lines = Path("data/unlabeled_train_50000.txt").read_text().lower().splitlines()
    found["unlabelled"] = {line.strip() for line in lines}
    kept = found["dev"] | found["test"]
    assert not found["dev"] & found["test"]
    assert not kept & (found["train"] | found["unlabelled"])
    assert len(texts(Path("data/test.csv"))) == 20
    assert found["train"] <= found["unlabelled"]
    assert f"20 test, {len(lines)} unlabelled" in out
    stars = [label for label, _ in table(Path("data/test.csv"))]
    assert {star: stars.count(star) for star in TELLING} == dict.fromkeys(TELLING, 4)


def test_the_same_seed_draws_the_same_texts_and_nothing_is_overwritten(go: Go) -> None:
    words = ("split_data.py", "reviews/train.csv", "data", "--test_rows", "10")
    assert go(*words)[0] == 0
    before = {path.name: path.read_bytes() for path in Path("data").iterdir()}
    assert go(*words)[0] == 0
    assert {path.name: path.read_bytes() for path in Path("data").iterdir()} == before
    code, _, err = go(*words, "--seed", "1")
    assert code == 2
    assert "data/train.csv is there and holds something else. Give another folder." in err
    assert before == {path.name: path.read_bytes() for path in Path("data").iterdir()}
    code, _, err = go("split_data.py", "reviews/train.csv", "other", "--test_rows", "-3")
    assert (code, "-3 texts are not possible; give 0 or more" in err) == (2, True)


def finished(folder: Path, *, alpha: float = 0.0, test: bool = True) -> Run:
    """Write a run as the commands leave it."""
    settings = {
        "training": {"optimizer": {"lr": 3e-5}, "length": "3 epochs", "seed": 0},
        "masked": {"text": "lines.txt" if alpha else "", "alpha": alpha},
        **{"batch_size": 32, "max_len": 128, "pooler": False},
    }
    run = Run.begin("classify-train", settings, RunPlace(folder.parent, folder.name))
    score = {"metric": "accuracy", "value": 0.5, "n": 40, "interval": [0.352, 0.648]}
    score |= {"baseline": {"name": "always 1", "value": 0.2}}
    with run:
        run.write_predictions("dev", [])
        run.finish(
            {
                "scores": {"dev": score, **({"test": score | {"value": 0.475}} if test else {})},
                "ledger": {"splits": {"train": {"n": 5500, "sha256": ""}}, "overlaps": []},
                "best_step": 50,
            }
        )
    return run


def test_the_table_of_the_report_has_both_scores_with_intervals(go: Go) -> None:
    finished(Path("out/cls").resolve())
    finished(Path("out/cls_mlm").resolve(), alpha=0.5, test=False)
    code, out, err = go("summarize.py", "out/cls", "out/cls_mlm")
    assert code == 0, err
    assert out.splitlines()[2:] == [
        "| 5,500 | CLS | lr 3e-05, 3 epochs, batch 32, 128 tokens, seed 0"
        " | 0.500 [0.352, 0.648] of 40 at step 50 | 0.475 [0.352, 0.648] of 40 |",
        "| 5,500 | CLS + MLM | lr 3e-05, 3 epochs, batch 32, 128 tokens, alpha 0.5, seed 0"
        " | 0.500 [0.352, 0.648] of 40 at step 50 | none |",
    ]
    Path("out/cls/record.json").unlink()
    code, _, err = go("summarize.py", "out/cls")
    assert (code, "is not finished: repeat its command, or leave it out." in err) == (2, True)


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    """A folder with all that is wanted."""
    for name in (*load("collect.py", course=YELP).CODE, "trainer.py", "report.md", "run.sh"):
        (tmp_path / name).write_text(f"# {name}\n")
    shutil.copy(YELP / "collect_submission.sh", tmp_path)
    run = finished(tmp_path / "out" / "cls")
    (run.path / "model").mkdir()
    (run.path / "model" / "model.safetensors").write_text("many bytes")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").write_text("1,text\n")
    return tmp_path


def test_a_submission_has_report_code_scripts_and_what_the_runs_recorded(submission: Path) -> None:
    done = subprocess.run(
        ["bash", str(YELP / "collect_submission.sh"), "ada"],
        **{"cwd": submission, "capture_output": True, "text": True},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("assignment_ada.zip: ")
    with zipfile.ZipFile(submission / "assignment_ada.zip") as packed:
        assert set(packed.namelist()) == {
            *load("collect.py", course=YELP).CODE,
            *("trainer.py", "report.md", "run.sh", "MANIFEST", "out/cls/config.json"),
            *("out/cls/record.json", "out/cls/predictions/dev.jsonl"),
        }


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("report.md", r"^there is no report in .*: write report\.pdf or report\.md\.$"),
        ("run.sh", r"^there is no script in .*: put the commands of your experiments into run\.sh"),
        ("out/cls/record.json", r"^there is no finished run below .*: run the commands first\.$"),
        ("mlm_utils.py", r"^missing in .*: mlm_utils\.py\.$"),
    ],
)
def test_what_a_submission_lacks_is_said(submission: Path, gone: str, message: str) -> None:
    (submission / gone).unlink()
    with pytest.raises(UserError, match=message):
        pack("ada", submission, load("collect.py", course=YELP).find)
    assert not list(submission.glob("*.zip"))


def commands() -> list[str]:
    """Return the commands that STUDENT.md prints, each as one line."""
    (block,) = re.findall(r"```bash\n(.*?)```", (YELP / "STUDENT.md").read_text(), re.DOTALL)
    return [line for line in block.replace("\\\n", " ").splitlines() if line]


def test_students_get_the_commands_as_the_document_prints_them() -> None:
    first, second = (
        [f"--{name}" for name in names.split()]
        for names in (
            "model_type model_name_or_path task_name do_train do_eval data_dir"
            " per_gpu_train_batch_size learning_rate num_train_epochs max_seq_length output_dir"
            " evaluate_during_training overwrite_output_dir",
            "model_type model_name_or_path task_name do_train do_eval data_dir"
            " per_gpu_train_batch_size learning_rate num_train_epochs logging_steps max_seq_length"
            " output_dir evaluate_during_training train_data_file block_size mlm_alpha line_by_line"
            " overwrite_output_dir",
        )
    )
    printed = [re.findall(r"--\w+", line) for line in commands() if line.startswith("python cl")]
    assert len(printed) == 4
    assert printed[:2] == [first, second]
    few = {"--labels", "--logging_steps"}
    assert [set(flags) for flags in printed[2:]] == [{*first, *few}, {*second, *few}]


def test_the_walk_through_runs_what_students_get(tmp_path: Path) -> None:
    script = (YELP / "walk_through.sh").read_text()
    extract = next(line for line in script.splitlines() if line.startswith("sed -n"))
    subprocess.run(["bash", "-c", f"course={YELP}\n{extract}"], cwd=tmp_path, check=True)
    extracted = (tmp_path / "commands.sh").read_text().replace("\\\n", " ").splitlines()
    assert [line for line in extracted if line] == [
        line.replace("NAME", "walk_through") for line in commands()
    ]
