"""The study of attention variants: equal budgets, runs that are taken up again, honest scores."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.attention import fast_path
from attnlab.attention.conditions import read_condition
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER
from attnlab.models.sizes import ModelSettings
from attnlab.randomness import rng
from attnlab.recipes.attention import ablate
from attnlab.recipes.attention.ablate import conditions_of, plan
from attnlab.recipes.attention.matching import TOLERANCE, Matching
from attnlab.recipes.attention.settings import SMALL_GPT, AblateSettings
from attnlab.recipes.attention.topic_report import report_on_topic
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import ObjectiveSettings
from attnlab.recipes.reporting import report_on
from attnlab.recipes.studies import Finished
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import Study
from attnlab.training.settings import TrainingSettings

JOB = "attention-ablate"
QUIET = Console(quiet=True)
WORDS = "the sea a ship and waves went home under grey old rocks".split()


def write_text(folder: Path) -> str:
    words = rng(0, "prose").choice(WORDS, size=1200)
    lines = [" ".join(words[i : i + 7]) for i in range(0, len(words), 7)]
    path = folder / "prose.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def small(corpus: str, length: str = "6 steps") -> AblateSettings:
    training = TrainingSettings(
        length=length, threads=1, precision="float32", evaluate_every=3, log_every=1
    )
    base = replace(
        SMALL_GPT,
        corpus=corpus,
        objective=ObjectiveSettings("running_text", {"block": 16}),
        model=ModelSettings(32, 1, 1, attention=AttentionSettings(positions="learned")),
        batch_tokens=160,
        training=training,
    )
    return AblateSettings(seeds=2, flips=3000, cost_lengths=(8, 16), base=base)


def run_study(settings: AblateSettings, root: Path, name: str = "study") -> Study:
    done: Study = find_job(JOB).run(settings, place=RunPlace(root, name), console=QUIET)
    return done


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> AblateSettings:
    corpus = write_text(tmp_path_factory.mktemp("text"))
    return replace(
        small(corpus),
        topics=("late-mask",),
        conditions=("dot_product@none", "aft:form=full;rank=4"),
    )


@pytest.fixture(scope="module")
def study(settings: AblateSettings, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The topic of the late mask with two more conditions, and 2 seeds each."""
    return run_study(settings, tmp_path_factory.mktemp("runs"))


def test_each_condition_is_trained_and_examined_once_per_seed(study: Study) -> None:
    conditions = ("dot_product", "late_mask", "dot_product-none", "aft-form-full-rank-4")
    assert list(study.runs) == [f"{name}-seed-{seed}" for name in conditions for seed in (0, 1)]
    coins = [f"{name}-on-coins-seed-0" for name in ("dot_product", "late_mask")]
    trained = [*study.runs, *coins]
    assert sorted(cell["name"] for cell in study.cells) == sorted(
        ["coins", *trained, *(f"{name}-examined" for name in trained)]
    )
    assert study.notes[0].startswith("Question: What happens if attention weights are set to 0")
    assert "Matched: as many tokens for each, and parameters within 5 %" in study.notes[-1]


def test_the_budget_is_the_same_for_all(study: Study) -> None:
    assert len({Run.open(study.path / name).record["tokens"] for name in study.runs}) == 1
    sizes = [examined(study, name)["parameters"] for name in study.runs]
    assert max(sizes) / min(sizes) < (1 + TOLERANCE) / (1 - TOLERANCE)
    assert all(abs(size / sizes[0] - 1) <= TOLERANCE for size in sizes)
    wide = Run.open(study.path / "aft-form-full-rank-4-seed-0").setting("model")["d_model"]
    assert wide < 32, "it pays for its table of positions with its width"


def examined(study: Study, cell: str) -> dict[str, object]:
    return Run.open(study.path / f"{cell}-examined").record["examined"]


def test_what_is_examined_of_a_model_is_that_of_its_run(study: Study) -> None:
    for name in study.runs:
        found = examined(study, name)
        run = Run.open(study.path / name)
        parts = found["by_position"]
        assert [part["first"] for part in parts] == [1, 3, 5, 7, 9, 11, 13, 15]
        mean = sum(part["loss"] for part in parts) / len(parts)
        # the same windows but for a shorter one at the end
        assert mean == pytest.approx(run.record["scores"]["held_out_text"]["loss"], rel=0.02)
        assert found["step_bytes"] > 4 * found["parameters"]
        assert 0 < len(found["sample"]) <= 16, (
            "past its training, it would show untrained positions"
        )
        assert (
            1 < found["counting_pairs"] < run.record["scores"]["held_out_text"]["baseline"]["value"]
        )
        assert ("asymmetry_of_scores" in found) == (not name.startswith("aft"))
        assert found["faults"]["words"] >= 0
        assert ("weight_on_itself" in found) == (not name.startswith("aft"))


def test_only_a_model_that_leaks_reads_again_without_a_future(study: Study) -> None:
    for name in study.runs:
        found, leaks = examined(study, name), name.startswith("late_mask")
        assert (Run.open(study.path / name).record["leak"]["largest_change"] != 0) == leaks
        assert (found["leak"]["largest_change"] != 0) == leaks
        assert found["leak"]["cuts"] == found["leak"]["possible_cuts"] == 15
        assert ("without_future" in found) == leaks
        trained = found["as_trained"]
        rows = Run.open(study.path / name).predictions("held_out_text")[: trained["windows"]]
        assert all(row["tokens"] == 16 for row in rows)
        expected = BITS_PER_CHARACTER.score(rows)
        assert trained[BITS_PER_CHARACTER.name] == pytest.approx(expected, rel=1e-5)
        low, high = trained["interval"]
        assert low < trained["perplexity"] < high
    found = examined(study, "late_mask-seed-0")
    assert abs(found["as_trained"]["loss"] - found["without_future"]["loss"]) > 1e-6


def test_the_same_command_goes_on_and_no_number_changes(
    study: Study, settings: AblateSettings
) -> None:
    gone = ["late_mask-seed-1", "late_mask-seed-1-examined", "dot_product-none-seed-0-examined"]
    before = Run.open(study.path / gone[0]).predictions("held_out_text")
    found = {name: examined(study, name.removesuffix("-examined")) for name in gone[1:]}
    for name in gone:
        shutil.rmtree(study.path / name)
    (study.path / "manifest.json").unlink()
    again = run_study(settings, study.path.parent)
    assert again.is_closed
    assert again.runs == study.runs
    assert Run.open(study.path / gone[0]).predictions("held_out_text") == before
    for name, was in found.items():
        assert examined(study, name.removesuffix("-examined")) == was


def test_other_settings_under_the_same_name_are_refused(
    study: Study, settings: AblateSettings
) -> None:
    longer = replace(
        settings,
        base=replace(settings.base, training=replace(settings.base.training, length="7 steps")),
    )
    with pytest.raises(UserError, match=r"base.training.length: '6 steps' there, '7 steps' now"):
        run_study(longer, study.path.parent)


def test_runs_of_two_budgets_are_not_put_into_one_table(
    study: Study, settings: AblateSettings, tmp_path: Path
) -> None:
    other = replace(
        settings,
        topics=(),
        conditions=("dot_product@none",),
        seeds=1,
        base=replace(settings.base, training=replace(settings.base.training, length="7 steps")),
    )
    longer = run_study(other, tmp_path, "longer")
    mixed = tmp_path / "mixed"
    shutil.copytree(study.path / "dot_product-seed-0", mixed / "dot_product-seed-0")
    shutil.copytree(longer.path / "dot_product-none-seed-0", mixed / "dot_product-none-seed-0")
    content = {"runs": ["dot_product-seed-0", "dot_product-none-seed-0"], "title": "mixed"}
    (mixed / "study.json").write_text(json.dumps(content))
    section = find_job(JOB).section
    with pytest.raises(UserError, match=r"training.length is 6 steps and 7 steps. Different texts"):
        list(section.summary(Study.open(mixed).opened()))


def test_the_mini_report_of_a_topic_has_its_parts_and_is_short(study: Study) -> None:
    page = report_on([study.path], study.path / "page", as_markdown=True).read_text()
    for part in (
        "Question: What happens if",
        "Hypothesis: The losses become lower, and that is no success.",
        "Computed on cpu in float32 with 1 thread",
        "| late_mask | 2 |",
        "What leaks, and what is left without a future",
        "coins: bits per flip",
        "What it means for the design of attention",
        "per coin flip",
        "## Samples",
        "what is wrong",
        "figures/scores.png",
        "figures/perplexity.png",
    ):
        assert part in page, part
    assert len(page.split()) < 2000, "five printed pages have room for about 2,000 words"
    assert page.count("![") <= 5


def test_a_topic_is_reported_from_a_larger_study(study: Study, tmp_path: Path) -> None:
    page = report_on_topic(study.path, "late-mask", tmp_path / "page", as_markdown=True)
    text = page.read_text()
    assert text.startswith("# What if the future is masked after the softmax?")
    assert "| late_mask | 2 |" in text
    assert "| dot_product-none |" not in text, "it belongs to no condition of this topic"
    assert "late_mask, on the same windows: perplexity" in text
    assert "dot_product has" in text
    with pytest.raises(UserError, match=r"has no runs of shared_projection:share=kv, .*--topic"):
        report_on_topic(study.path, "sharing")
    with pytest.raises(UserError, match="is not a study of attnlab attention ablate"):
        report_on_topic(tmp_path, "sharing")


def test_topics_measure_cost_last_and_read_beyond_the_training_length(tmp_path: Path) -> None:
    settings = replace(
        small(write_text(tmp_path)), topics=("fast", "positions"), seeds=1, match="flops"
    )
    cells = plan(settings, Finished(tmp_path / "study", {}))
    *others, cost = cells
    assert (cost.name, cost.needs) == ("cost", tuple(cell.name for cell in others))
    assert cost.settings.names == ("dot_product", "performer", "linear")
    assert {c.settings.read_to for c in cells if c.name.endswith("-examined")} == {400}
    assert [cell.name for cell in cells].count("dot_product-seed-0") == 1


def test_all_topics_bring_every_registered_variant_and_every_position_scheme() -> None:
    from attnlab.attention import ATTENTION
    from attnlab.attention.positions import POSITIONS

    found = conditions_of(AblateSettings(topics=("all",))).values()
    assert {one.name for one in found} == set(ATTENTION.names())
    assert {one.positions for one in found} == set(POSITIONS.names())
    assert [one.options.get("share") for one in found].count(None) == len(found) - 4
    assert sum(one.name == "aft" for one in found) == 3
    assert sum(one.name == "mlp_projection" for one in found) == 2


def test_every_condition_has_as_many_parameters_as_the_control_at_the_default_size() -> None:
    settings = AblateSettings(topics=("all",))
    matching = Matching(settings, vocab_size=67)
    wanted = matching._cost(settings.base.model)
    apart = {}
    for text, attention in conditions_of(settings).items():
        model = matching.run(text, attention).model
        assert abs(matching._cost(model) / wanted - 1) <= TOLERANCE, text
        apart[text] = abs(matching._cost(replace(model, d_model=128)) / wanted - 1)
    off = {text for text, share in apart.items() if share > TOLERANCE}
    assert {"mlp_projection", "shared_projection:share=qkv"} <= off, (
        "without the width, they differ"
    )


def test_a_layer_whose_size_no_width_changes_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import torch\n"
        "from attnlab.attention.variants.dot_product import DotProduct\n"
        "class Large(DotProduct):\n"
        "    def __init__(self, *shape, **given):\n"
        "        super().__init__(*shape, **given)\n"
        "        self.table = torch.nn.Parameter(torch.zeros(10**6))\n"
    )
    settings = small(write_text(tmp_path))
    condition = f"{own}:Large"
    attention = read_condition(condition, positions="learned")
    matching = Matching(settings, vocab_size=30)
    with pytest.raises(UserError, match=r"no width has as many parameters as the control .* 5%"):
        matching.run(condition, attention)
    by_seconds = replace(
        settings,
        match="seconds",
        base=replace(settings.base, training=replace(settings.base.training, length="1 second")),
    )
    assert Matching(by_seconds, vocab_size=30).run(condition, attention).model.d_model == 32


def test_equal_operations_give_a_cheaper_layer_more_steps(tmp_path: Path) -> None:
    settings = replace(small(write_text(tmp_path), "1000 steps"), match="flops")
    matching = Matching(settings, vocab_size=30)

    def steps(condition: str) -> float:
        run = matching.run(condition, read_condition(condition, positions="learned"))
        assert run.model.d_model == 32
        return float(run.training.length.split()[0])

    assert steps("dot_product") == 1000
    # plain matrix products, as many: the counter must see those of the fused kernel too
    assert steps("late_mask") == 1000
    assert steps("shared_projection:share=qkv") > 1100
    assert steps("mlp_projection") < 900


def test_what_a_new_machine_measures_first_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(small(write_text(tmp_path)), match="flops")
    known = Matching(settings, vocab_size=23)._control

    def measured(_: torch.dtype) -> int:
        torch.ones(64, 64) @ torch.ones(64, 64)
        return 0

    monkeypatch.setattr(fast_path, "_fused_from", None)
    monkeypatch.setattr(fast_path, "FEW", 0)
    monkeypatch.setattr(fast_path, "recorded_or_measured", measured)
    assert Matching(settings, vocab_size=23)._control == known


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topics": ()}, "nothing to compare with dot_product: give --topic"),
        (
            {"topics": (), "conditions": ("dot_product",)},
            "nothing to compare with dot_product: give --topic",
        ),
        ({"topics": ("lste-mask",)}, "no topic is called 'lste-mask'. Did you mean 'late-mask'?"),
        ({"conditions": ("cosin",)}, "no attention is called 'cosin'. Did you mean 'cosine'?"),
        ({"conditions": ("aft@rotary",)}, "attention 'aft' does not support rotary positions"),
        ({"match": "seconds"}, r"--match seconds needs a length in seconds, not '6 steps'"),
        ({"length": "9 seconds"}, r"--length '9 seconds' gives a slow variant fewer tokens"),
        ({"text_held_out": 0.0}, r"base.text_held_out = 0 leaves no text to compare on"),
        ({"objective": ObjectiveSettings("text")}, r"base.objective = text: conditions are comp"),
        ({"attention": "cosine"}, r"base.model.attention = cosine .* the control is dot_product"),
        ({"conditions": ("x/own.py:A", "y/own.py:A")}, "would both be called own.py-A"),
        ({"corpus": ""}, "give a text to learn from"),
        (
            {"topics": ("positions",), "positions": "rotary"},
            "positions = rotary: the topic positions compares with learned positions",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_there_is_a_folder(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    settings = replace(small(write_text(tmp_path)), topics=("sharing",))
    base = settings.base
    if "length" in change:
        base = replace(base, training=replace(base.training, length=str(change.pop("length"))))
    if "positions" in change:
        own = AttentionSettings(positions=str(change.pop("positions")))
        base = replace(base, model=replace(base.model, attention=own))
    if "attention" in change:
        own = AttentionSettings(str(change.pop("attention")))
        base = replace(base, model=replace(base.model, attention=own))
    fields = {
        key: change.pop(key) for key in ("text_held_out", "objective", "corpus") if key in change
    }
    settings = replace(settings, base=replace(base, **fields), **change)
    with pytest.raises(UserError, match=message):
        run_study(settings, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_the_device_is_named(tmp_path: Path) -> None:
    assert ablate.device_line(small(write_text(tmp_path))) == "device: cpu, float32"
