"""The document's commands: train, write the course's files, answer, and every mistake."""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from course_files import COURSE, exit_code, forget, load

from attnlab.data.settings import WorldSettings
from attnlab.models.course_format import read_params, variant_of, write_params
from attnlab.models.gpt import GPT
from attnlab.models.sizes import COURSE_VARIANTS, ModelSettings
from attnlab.recipes.knowledge.settings import find_recipe
from attnlab.recipes.knowledge.texts import characters_of
from attnlab.recipes.knowledge.world import write_world

pytestmark = pytest.mark.precision

Run = Callable[..., tuple[int, str, str]]

TRAIN, DEV, TEST = "birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `python src/run.py WORDS` in a folder with a small world."""
    monkeypatch.chdir(tmp_path)
    write_world(WorldSettings(people=60, biographies=1), tmp_path)
    monkeypatch.syspath_prepend(str(COURSE / "src"))  # as for a program that stands there
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    forget()
    module = load("src/run.py")

    def go(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["run.py", *words])
        return exit_code(module), *capsys.readouterr()

    return go


def small_params(path: str, variant: str = "vanilla") -> GPT:
    """Write a model that is the course's but for its size, and answers something."""
    corpus = Path("wiki.txt").read_text(encoding="utf-8").splitlines()
    torch.manual_seed(3)
    size = ModelSettings(16, 8, 1, attention=COURSE_VARIANTS[variant])
    model = GPT(len(characters_of(corpus)), 128, **vars(size)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    write_params(model, Path(path))
    return model


def test_a_model_is_trained_and_written_and_the_same_command_finds_it(run: Run) -> None:
    words = ["finetune", "vanilla", "wiki.txt", "--writing_params_path", "vanilla.model.params"]
    words += ["--finetune_corpus_path", TRAIN, "--length", "1 step"]
    code, out, err = run(*words)
    assert code == 0, err
    assert "vanilla.model.params written; the run is runs/finetune-vanilla-" in out
    before = Path("vanilla.model.params").read_bytes()
    _, size = read_params(Path("vanilla.model.params"))
    assert (size.d_model, size.n_heads, size.n_layers, variant_of(size)) == (256, 8, 4, "vanilla")
    assert run(*words) == (0, out, "")
    assert Path("vanilla.model.params").read_bytes() == before
    lines = Path(TRAIN).read_text(encoding="utf-8").splitlines(keepends=True)
    Path(TRAIN).write_text("".join(lines[1:]), encoding="utf-8")
    assert run(*words)[0] == 0
    assert Path("vanilla.model.params").read_bytes() != before, "other questions, another model"


@pytest.mark.slow
def test_pretrain_then_finetune_then_evaluate(run: Run) -> None:
    variant = "synthesizer"  # make course-knowledge does it with both
    pretrained, tuned = f"{variant}.pretrain.params", f"{variant}.finetune.params"
    words = ["pretrain", variant, "wiki.txt", "--writing_params_path", pretrained]
    assert run(*words, "--length", "1 step")[0] == 0
    words = ["finetune", variant, "wiki.txt", "--reading_params_path", pretrained]
    words += ["--writing_params_path", tuned, "--finetune_corpus_path", TRAIN]
    assert run(*words, "--length", "1 step")[0] == 0
    assert variant_of(read_params(Path(tuned))[1]) == variant
    words = ["evaluate", variant, "wiki.txt", "--reading_params_path", tuned]
    code, out, _ = run(*words, "--eval_corpus_path", DEV, "--outputs_path", "dev.predictions")
    assert code == 0
    assert out.startswith("Correct: ")


def answered_as_the_course_does(model: GPT, question: str, characters: list[str]) -> str:
    """Append 32 characters greedily, the context cropped at the left; then split at the marks."""
    row = [characters.index(character) for character in f"{question}⁇"]
    for _ in range(32):
        with torch.no_grad():
            logits = model(torch.tensor([row[-128:]]))[0, -1]
        row.append(int(logits.argmax()))
    return "".join(characters[token] for token in row).split("⁇")[1]


def test_a_file_answers_here_what_it_answers_there_even_to_a_question_that_is_too_long(
    run: Run,
) -> None:
    model = small_params("a.params")
    corpus = Path("wiki.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = characters_of(corpus)
    names = [line.partition(".")[0] for line in corpus[:6]]
    questions = [f"Where was {name} born?" for name in names] + ["Where was " + "a" * 110 + "?"]
    Path("asked.tsv").write_text("\n".join(questions), encoding="utf-8")
    words = ["evaluate", "vanilla", "wiki.txt", "--reading_params_path", "a.params"]
    code, out, err = run(*words, "--eval_corpus_path", "asked.tsv", "--outputs_path", "answers")
    assert code == 0, err
    assert "no score" in out
    characters = list(tokenizer.characters)  # type: ignore[attr-defined]
    expected = [answered_as_the_course_does(model, text, characters) for text in questions]
    lines = Path("answers").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert lines == [" ".join(answer.splitlines()) for answer in expected]
    assert len(set(lines)) > 1


def test_mistakes_are_reported(run: Run) -> None:
    small_params("a.params")
    torch.save({"lstm.weight": torch.zeros(2)}, "lstm.params")
    evaluate = ["evaluate", "vanilla", "wiki.txt", "--eval_corpus_path", DEV]
    evaluate += ["--outputs_path", "out", "--reading_params_path"]
    finetune = ["finetune", "vanilla", "wiki.txt"]
    for words, told in [
        (["pretrain", "vanilla", "wiki.txt"], "pretrain needs --writing_params_path."),
        (finetune, "finetune needs --finetune_corpus_path."),
        ([*evaluate, "lstm.params"], "it has no tok_emb.weight"),
        ([*evaluate, "none.params"], "there is no file none.params"),
        (
            ["evaluate", "synthesizer", *evaluate[2:], "a.params"],
            "a.params holds a vanilla model (it has blocks.0.attn.key.weight), not a synthesizer",
        ),
        (
            [*finetune, "--finetune_corpus_path", TRAIN, "--writing_params_path", "no/a.params"],
            "no/a.params: there is no folder no.",
        ),
        (
            [*evaluate[:5], "--outputs_path", "no/out", "--reading_params_path", "a.params"],
            "no/out: there is no folder no.",
        ),
        (["evaluate", "vanilla", DEV, *evaluate[3:], "a.params"], "Give the corpus it was"),
        (
            ["evaluate", "—outputs_path", "out"],
            "has the wrong dash, as printed texts do: write --o",
        ),
        (["evaluate", "--", "reading", "params"], "write --reading_params_path."),
        (["answer", "vanilla", "wiki.txt"], "invalid choice: 'answer'"),
    ]:
        code, _, err = run(*words)
        assert code == 2, words
        assert told in err
    assert not Path("out").exists()
    assert not Path("runs").exists()


def test_the_folder_of_the_answers_is_looked_for_before_anything_is_read(run: Run) -> None:
    words = ["evaluate", "vanilla", "none.txt", "--reading_params_path", "none.params"]
    words += ["--eval_corpus_path", "none.tsv", "--outputs_path", "no/out"]
    code, _, err = run(*words)
    assert (code, "no/out: there is no folder no." in err) == (2, True)


def test_the_rows_that_dataset_shows_are_those_that_run_trains_on(run: Run) -> None:
    del run
    wiki = Path("wiki.txt").read_text(encoding="utf-8")
    assert "?" not in wiki, "or the test shows nothing"
    dataset, trained = load("src/dataset.py"), load("src/run.py")
    options = argparse.Namespace(seed=0, pretrain_corpus_path="wiki.txt")
    shown = dataset.CharCorruptionDataset(wiki, dataset.BLOCK_SIZE)
    assert shown.stoi == trained.read_corpus(options).stoi
    questions = dataset.NameDataset(shown, Path(TRAIN).read_text(encoding="utf-8"))
    assert len(questions) > 10
    assert shown.stoi["?"] in questions[0][0].tolist()


def test_tiny_in_the_environment_trains_for_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(COURSE / "src"))
    module = load("src/run.py")
    options = module._parser().parse_args(["pretrain", "vanilla", "wiki.txt"])
    assert module.hyperparameters(options).length == ""
    monkeypatch.setenv("TINY", "1")
    assert module.hyperparameters(options).length == "4 steps"
    options.length = "2 epochs"
    assert module.hyperparameters(options).length == "2 epochs"


def test_by_default_run_py_trains_as_the_recipe_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(COURSE / "src"))
    module, recipe = load("src/run.py"), find_recipe("course")
    parse = module._parser().parse_args
    config = module.hyperparameters(parse(["pretrain", "vanilla", "wiki.txt"]))
    block = module.BLOCK_SIZE
    assert config.settings(block) == recipe.pretrain.training
    assert config.batch_tokens == recipe.pretrain.batch_tokens
    options = {"block": block, "shift": config.shift, **config.forms}
    assert options == recipe.pretrain.objective.options
    words = ["finetune", "vanilla", "wiki.txt", "--reading_params_path", "vanilla.pretrain.params"]
    config = module.hyperparameters(parse(words))
    assert config.settings(block) == recipe.finetune.training
    assert config.batch_tokens == recipe.finetune.batch_tokens


@pytest.mark.usefixtures("run")
def test_rows_for_the_trainer_take_the_forms_that_it_asks_for() -> None:
    dataset = load("src/dataset.py")
    text = dataset.CharCorruptionDataset(Path("wiki.txt").read_text(encoding="utf-8"), 128)
    plain, longer = (text.epoch_rows(1, 0, draws=draws) for draws in (1, 5))
    assert plain == text.epoch_rows(1, 0)
    assert sum(len(row.tokens) for row in longer) > 1.3 * sum(len(row.tokens) for row in plain)


def test_the_printed_commands_make_every_file_of_a_submission() -> None:
    text = (COURSE / "STUDENT.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    assert commands.count("python src/run.py ") == 3 + 4 + 4
    for name in load("collect.py").ARTEFACTS:
        assert re.search(rf"--(writing_params|outputs)_path {re.escape(name)}\b", commands), name


@pytest.mark.usefixtures("run")
def test_knowledge_the_trainers_values_are_those_of_run_py_alone() -> None:
    """The document prints none of them."""

    def values(function: str, reading: str | None) -> tuple[float, int, float]:
        options = argparse.Namespace(
            function=function, variant="vanilla", reading_params_path=reading,
            to_the_letter=True, seed=0, length="",
        )  # fmt: skip
        config = load("src/run.py").hyperparameters(options)
        assert (config.lr_decay, config.warmup_tokens) == (True, 512 * 20)
        assert (config.betas, config.weight_decay, config.grad_norm_clip) == ((0.9, 0.95), 0.1, 1.0)
        return config.max_epochs, config.batch_size, config.learning_rate

    assert values("pretrain", None) == (650, 128, 6e-3)
    assert values("finetune", None) == (75, 256, 6e-4)
    assert values("finetune", "vanilla.pretrain.params") == (10, 256, 6e-4)


@pytest.mark.usefixtures("run")
def test_knowledge_2d_does_not_train_on_wiki_txt_which_only_gives_the_characters() -> None:
    """The document says "train on wiki.txt"."""
    dataset = load("src/dataset.py")
    wiki = Path("wiki.txt").read_text(encoding="utf-8")
    questions = Path(TRAIN).read_text(encoding="utf-8")
    backwards = "\n".join(line[::-1] for line in wiki.splitlines())
    first, second = (
        dataset.NameDataset(dataset.CharCorruptionDataset(text, 128), questions).epoch_rows(0, 0)
        for text in (wiki, backwards)
    )
    assert first == second


def test_knowledge_2f_is_printed_with_stray_blanks_which_are_refused(run: Run) -> None:
    printed = "finetune vanilla wiki.txt -- reading params path vanilla.pretrain.params"
    code, _, err = run(*printed.split())
    assert code == 2
    assert "'-- reading' has a blank in it: write --reading_params_path" in err
