"""Mistakes in the printed *yelp* assignment, part 2, each with what is right.

Those of part 1 are in tests/geometry.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from course_files import YELP, exit_code, forget, load

from attnlab.assets.tensors import read_tensors
from small_bert import write_reviews, write_small_bert

PRINTED = """-model_type bert —model_name_or_path huawei—noah/TinyBERT_General_4L_312D —task_name
yelp -do_train -do_eval —data_dir reviews —per_gpu_train_batch_size 32 —learning_rate
3e-5 —num_train_epochs 3 -logging_steps 50 —max_seq_length 16 —output_dir out
—evaluate_during_training -train_data_file reviews/unlabeled.txt —block_size 16
--mlm_alpha 0.5 —line_by_line -overwrite_output_dir"""
SHORT = ("--data_dir", "reviews", "--do_train", "--max_seq_length", "16", "--num_train_epochs", "1")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where a student stands: next to a model and reviews."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(YELP))
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    forget()


def test_yelp_problem_3_has_the_wrong_dashes_and_every_message_says_how_to_mend_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, mended = PRINTED.split(), 0
    write_small_bert(Path("huawei-noah/TinyBERT_General_4L_312D"))
    while True:
        monkeypatch.setattr(sys, "argv", ["classifier_mlm.py", *words])
        code, err = exit_code(load("classifier_mlm.py", course=YELP)), capsys.readouterr().err
        if code == 0:
            break
        hint = re.search(r"(\S+) has the wrong dash, as printed texts do: write (\S+)\.\n", err)
        assert hint, err
        words[words.index(hint[1])] = hint[2]
        mended += 1
    assert mended == 18  # all flags but --mlm_alpha, and the name of the model
    assert Path("out/record.json").is_file()


@pytest.mark.parametrize("file", ["classifier.py", "classifier_mlm.py", "split_data.py"])
def test_yelp_a_blank_after_the_dashes_gets_a_hint(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [file, "--", "seed", "1"])
    assert exit_code(load(file, course=YELP)) == 2
    assert "'-- seed' has a blank in it: write --seed." in capsys.readouterr().err


def test_yelp_problem_3_takes_the_parameters_of_problem_2_not_of_itself() -> None:
    first = load("classifier.py", course=YELP).parser_of("")
    second = load("classifier_mlm.py", course=YELP).joint_parser()
    defaults = [{a.dest: a.default for a in parser._actions} for parser in (first, second)]
    assert defaults[0].items() <= defaults[1].items()
    assert defaults[1].keys() - defaults[0].keys() == {
        *("train_data_file", "block_size", "mlm_alpha", "mlm_probability", "line_by_line")
    }


def test_yelp_asks_for_two_classes_under_one_heading_and_there_are_both() -> None:
    mymodel = load("mymodel.py", course=YELP)
    filler = mymodel.BertForMaskedLanguageModel.from_pretrained("bert")
    joint = mymodel.BertForCLSMLM.from_pretrained("bert", num_labels=5)
    assert {name.partition(".")[0] for name in filler.state_dict()} == {"bert", "mlm_head"}
    assert {name.partition(".")[0] for name in joint.state_dict()} == {
        *("bert", "classifier", "mlm_head")
    }


@pytest.mark.slow
def test_yelp_only_pytorch_reads_a_checkpoint_and_its_vocabulary_without_transformers() -> None:
    script = (
        "import runpy, sys\n"
        "sys.argv = ['classifier.py', *sys.argv[1:]]\n"
        "runpy.run_path('classifier.py', run_name='__main__')\n"
        "print('loaded', sorted({'transformers', 'tokenizers', 'peft'} & set(sys.modules)))\n"
    )
    flags = ["--model_name_or_path", str(Path("bert").resolve()), "--output_dir"]
    flags += [str(Path("out").resolve()), *SHORT]
    flags[flags.index("reviews")] = str(Path("reviews").resolve())
    done = subprocess.run(
        [sys.executable, "-c", script, *flags], cwd=YELP, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("flags", [[], ["--pooler"]], ids=["the document", "transformers"])
def test_yelp_the_classifier_has_no_pooler_unless_it_is_asked_for(
    flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--model_name_or_path", "bert", "--output_dir", "out", *SHORT, *flags]
    monkeypatch.setattr(sys, "argv", ["classifier.py", *words])
    assert exit_code(load("classifier.py", course=YELP)) == 0
    tensors = read_tensors(Path("out/model/model.safetensors"))
    assert ("bert.pooler.dense.weight" in tensors) == bool(flags)
    assert "classifier.weight" in tensors
