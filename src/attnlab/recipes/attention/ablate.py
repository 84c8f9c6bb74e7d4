"""Which attention is worth it? The same small GPT, trained once per condition and seed.

Every cell is a run of ``attnlab knowledge pretrain`` on plain text, followed by one that examines
its model. Some topics add cells: runs on coin flips, and the cost of layers by length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from attnlab.attention import ATTENTION
from attnlab.attention.conditions import (
    CONTROL,
    cell_name,
    condition_name,
    examined_name,
    is_on_coins,
)
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.topics import ALL, Topic, find_topic, topic_names
from attnlab.errors import UserError
from attnlab.recipes.attention.coins import COINS
from attnlab.recipes.attention.matching import Matching, attention_of
from attnlab.recipes.attention.settings import (
    SMALL_GPT,
    AblateSettings,
    CoinSettings,
    CostSettings,
    ExamineSettings,
    FillInSettings,
)
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.running_text import RUNNING_TEXT, running_text_parts
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.recipes.knowledge.texts import characters_of
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.report.ablation.sentences import setup
from attnlab.runs.references import absolute_settings
from attnlab.runs.study import StudyOutcome
from attnlab.training import hardware
from attnlab.training.length import length_in_words

TITLE = "Which attention is worth it?"
TRAIN, FILL_IN, EXAMINE = "knowledge-pretrain", "attention-fill-in", "attention-examine"
COST_CELL, COINS_CELL = "cost", "coins"
MATCHED = {
    "parameters": "as many tokens for each, and parameters within 5 % by way of the width",
    "flops": "the same width, and as many operations in matrix products for each",
    "seconds": "the same width, and as many seconds for each on this machine",
}


def plan(settings: AblateSettings, finished: Finished) -> Sequence[Cell]:
    """Train and examine once per condition and seed; measure the cost of layers at the end."""
    _check(settings)
    topics = topics_of(settings)
    cells = list(_text_cells(settings, finished))
    # whether it sees the future is no question for an encoder
    coins = () if settings.encoder else (name for topic in topics for name in topic.coins)
    for condition in dict.fromkeys(coins):
        cells += _coin_cells(condition, settings, finished)
    if any(is_on_coins(cell.name) for cell in cells):
        cells.insert(0, Cell(COINS_CELL, "attention-coins", CoinSettings(settings.flips)))
    if costs := tuple(dict.fromkeys(name for topic in topics for name in topic.costs)):
        model = settings.base.model
        measured = CostSettings(costs, settings.cost_lengths, model.d_model, model.n_heads)
        needs = tuple(cell.name for cell in cells)  # last, since other cells would take its time
        cells.append(Cell(COST_CELL, "attention-cost", measured, needs))
    return cells


def close(settings: AblateSettings, finished: Finished) -> StudyOutcome:
    """Compare what was trained on the text."""
    jobs = (TRAIN, FILL_IN)
    trained = [name for name, run in finished.runs.items() if run.config["job"] in jobs]
    compared = [name for name in trained if not is_on_coins(name)]
    topics = topics_of(settings)
    asked = setup(topics[0]) if len(topics) == 1 else []
    return StudyOutcome(compared, notes=[*asked, budget(settings)])


def budget(settings: AblateSettings) -> str:
    """Say what every condition was given."""
    base, size = settings.base, settings.base.model
    kind = "BERT on masked characters" if settings.encoder else "GPT"
    masked = " Bits are those of a masked character." if settings.encoder else ""
    return (
        f"Each run trains a {kind} of {_counted(size.n_layers, 'layer')},"
        f" {_counted(size.n_heads, 'head')} and width"
        f" {size.d_model} on {Path(base.corpus).name} for {length_in_words(base.training.length)},"
        f" in windows of {base.objective.options['block']} tokens ({base.tokenizer.kind});"
        f" {_counted(settings.seeds, 'seed')} per condition. Matched:"
        f" {MATCHED[settings.match]}.{masked}"
    )


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def topics_of(settings: AblateSettings) -> list[Topic]:
    """Return the topics of a study."""
    names = topic_names() if ALL in settings.topics else settings.topics
    return [find_topic(name) for name in names]


def conditions_of(settings: AblateSettings) -> dict[str, AttentionSettings]:
    """Return what is compared, by the names of the conditions; the control comes first."""
    named = [CONTROL, *(name for topic in topics_of(settings) for name in topic.conditions)]
    if settings.encoder:  # which has positions of its own
        named = [text for text in named if attention_of(text, settings).positions == "none"]
    if ALL in settings.topics:
        there = {attention_of(text, settings).name for text in named}
        named += [name for name in ATTENTION.names() if name not in there]
    named += settings.conditions
    found, names = dict[str, AttentionSettings](), dict[str, str]()
    for text in named:
        attention = attention_of(text, settings)
        if attention in found.values():
            continue
        if (name := condition_name(text)) in names:
            raise UserError(f"conditions {names[name]!r} and {text!r} would both be called {name}.")
        found[text], names[name] = attention, text
    return found


def device_line(settings: AblateSettings) -> str:
    """Say what the runs are going to be computed on."""
    chosen = hardware.choose(settings.base.training)
    return f"device: {chosen['device']}, {chosen['precision']}"


def _text_cells(settings: AblateSettings, finished: Finished) -> Iterator[Cell]:
    matching = Matching(settings, vocab_size=_vocab_size(settings.base))
    read_to = max((topic.read_to for topic in topics_of(settings)), default=0)
    for condition, attention in conditions_of(settings).items():
        matched = absolute_settings(matching.run(condition, attention), finished.folder)
        for seed in range(settings.seeds):
            run = _seeded(matched, seed)
            if settings.encoder:
                yield Cell(cell_name(condition, run.training.seed), FILL_IN, _fill_in(run))
            else:
                yield from _trained_and_examined(condition, run, finished, read_to)


def _coin_cells(condition: str, settings: AblateSettings, finished: Finished) -> Iterator[Cell]:
    """Train on coin flips: one seed, the width of the control, and the same budget."""
    run = replace(
        settings.base,
        corpus=finished.path(COINS_CELL, COINS),
        model=replace(settings.base.model, attention=attention_of(condition, settings)),
    )
    for cell in _trained_and_examined(condition, run, finished, 0, on_coins=True):
        yield replace(cell, needs=(COINS_CELL, *cell.needs))


def _trained_and_examined(
    condition: str,
    run: PretrainSettings,
    finished: Finished,
    read_to: int,
    *,
    on_coins: bool = False,
) -> Iterator[Cell]:
    name = cell_name(condition, run.training.seed, on_coins=on_coins)
    examined = ExamineSettings(run=finished.path(name), read_to=read_to)
    yield Cell(name, TRAIN, run)
    yield Cell(examined_name(name), EXAMINE, examined, (name,))


def _fill_in(run: PretrainSettings) -> FillInSettings:
    """Return the same run for an encoder."""
    return FillInSettings(
        corpus=run.corpus,
        text_held_out=run.text_held_out,
        block=int(run.objective.options["block"]),
        model=run.model,
        batch_tokens=run.batch_tokens,
        training=run.training,
    )


def _seeded(run: PretrainSettings, number: int) -> PretrainSettings:
    return replace(run, training=replace(run.training, seed=run.training.seed + number))


def _vocab_size(base: PretrainSettings) -> int:
    """Return the number of tokens; byte pairs are not learned yet, and taken to be all there."""
    if base.tokenizer.kind == "byte_pairs":
        return base.tokenizer.size
    learned, held_out = running_text_parts(Path(base.corpus), base.text_held_out)
    return len(characters_of([*learned, held_out]))


def _check(settings: AblateSettings) -> None:
    """Refuse, before there is a folder, what could not be compared."""
    base = settings.base
    need(base.corpus, "a text to learn from: attnlab attention ablate TEXT")
    if len(conditions_of(settings)) == 1:
        if settings.encoder and settings.topics:
            raise UserError(
                f"there is nothing to compare with {CONTROL}: of {', '.join(settings.topics)}, an"
                " encoder can do nothing else. It has positions of its own."
            )
        raise UserError(
            f"there is nothing to compare with {CONTROL}: give --topic ({', '.join(topic_names())}"
            " or all), or --conditions cosine,dot_product@rotary."
        )
    if base.objective.name != RUNNING_TEXT or "block" not in base.objective.options:
        raise UserError(
            f"base.objective = {base.objective.name}: conditions are compared on plain text. Set"
            f" base.objective.name={RUNNING_TEXT} and base.objective.options.block."
        )
    attention = base.model.attention
    if attention != AttentionSettings(positions=attention.positions):
        raise UserError(
            f"base.model.attention = {attention.name} with options would be the control of nothing:"
            f" the control is {CONTROL}. Give it with --conditions instead."
        )
    learned = SMALL_GPT.model.attention.positions
    if attention.positions != learned and any(topic.beyond for topic in topics_of(settings)):
        raise UserError(
            f"base.model.attention.positions = {attention.positions}: the topic positions compares"
            f" with {learned} positions. Leave it out, or choose another topic."
        )
    if settings.encoder and base.tokenizer.kind != "characters":
        raise UserError(
            f"--encoder learns from masked characters: leave out --tokenizer {base.tokenizer.kind}."
        )
    if not base.text_held_out:
        raise UserError(
            "base.text_held_out = 0 leaves no text to compare on: give a share such as 0.1."
        )


ABLATE = StudyPlan(TITLE, plan, close)
