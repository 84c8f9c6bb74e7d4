"""What a number in a text counts or measures, seen from the words around it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attnlab.evaluation.claims.citations import NAME
from attnlab.evaluation.claims.numbers import Number

Kind = Literal["score", "size", "setting"]


@dataclass(frozen=True)
class Quantity:
    """Something that runs record, and the words that it is known by."""

    name: str
    kind: Kind
    words: str
    """Pattern of what stands before a number, at the head of a column, or near a comparison."""
    units: str = ""
    """Pattern of what stands right after a number."""
    is_share: bool = False
    is_count: bool = False
    scale: float = 1.0
    """What a recorded value is multiplied by to be in the unit that is written."""
    keys: Sequence[str] = ()
    """How the settings are called that hold it."""


def _setting(
    name: str, words: str, *keys: str, units: str = "", is_count: bool = False
) -> Quantity:
    return Quantity(name, "setting", words, units, is_count=is_count, keys=keys)


def _count(name: str, words: str, units: str = "") -> Quantity:
    return Quantity(name, "size", words, units, is_count=True)


_TEXTS = "examples|rows|questions|sentences|texts|reviews|samples|pairs|items|windows"
_WHICH = r"(?:(?!(?:on|in|of|for|with|and|to|at|from|or)\b)[\w-]+\s+)?"
BITS = Quantity(
    "bits_per_character", "score", r"bits? per char\w*|bpc\b", r"bits? per char\w*|bpc\b"
)
ACCURACY = Quantity("accuracy", "score", r"accurac(?:y|ies)\b|\bacc\b", is_share=True)
PERPLEXITY = Quantity("perplexity", "score", r"perplexit(?:y|ies)\b|\bppl\b")
F1 = Quantity("f1", "score", r"\bf1\b", is_share=True)
LOSS = Quantity("loss", "score", r"\bloss(?:es)?\b|cross[- ]entropy", r"nats\b")
OWN = Quantity("score", "score", r"(?<!f1 )(?<!f1-)(?<!accuracy )(?<!perplexity )\bscores?\b")
"""The metric that a run was scored by, whichever it is."""
PARAMETERS = _count("parameters", r"\bparam(?:eter)?s?\b", rf"{_WHICH}param(?:eter)?s?\b")
SECONDS = Quantity("seconds", "size", r"\bseconds\b|training time", r"s\b|secs?\b|seconds?\b")
MINUTES = Quantity("seconds", "size", r"\bminutes\b", r"min\b|minutes?\b", scale=1 / 60)
HOURS = Quantity("seconds", "size", r"\bhours\b", r"h\b|hours?\b", scale=1 / 3600)
SEEDS = _count("seeds", r"\bseeds\b", r"(?:random\s+|different\s+)?seeds\b")
N = _count("n", r"\bn\b")
ROWS = _count("rows", rf"\b(?:{_TEXTS})\b", rf"{_WHICH}(?:{_TEXTS})\b")
_PER = r"\b(?!\s*/|\s+per\b)"
STEPS = _count("steps", rf"\bsteps{_PER}", rf"(?:optimi[sz]er\s+|training\s+)?steps{_PER}")
EPOCHS = _count("epochs", r"\bepochs\b", r"epochs\b")
TOKENS = _count("tokens", rf"\btokens{_PER}", rf"tokens{_PER}")
SETTINGS = (
    _setting("learning rate", r"learning rates?|\blr\b", "lr", "adamw_lr"),
    _setting("batch size", r"batch[ _]size", "batch_size", is_count=True),
    _setting("dropout", r"dropout", "dropout"),
    _setting("weight decay", r"weight[ _]decay", "weight_decay"),
    _setting("warmup", r"warm-?up", "warmup"),
    _setting("alpha", r"\balpha\b|α", "alpha"),
    _setting("seed", r"\bseed\b", "seed", is_count=True),
    _setting("max_len", r"max_len|maximum length", "max_len", is_count=True),
    _setting("d_model", r"d_model|\bwidth\b|hidden size", "d_model", is_count=True),
    _setting("layers", r"n_layers", "n_layers", units=r"layers\b", is_count=True),
    _setting("heads", r"n_heads", "n_heads", units=r"(?:attention\s+)?heads\b", is_count=True),
)
OTHER = Quantity(
    "other",
    "score",
    r"\berrors?\b|\bprecision\b|\brecall\b|\bAUC\b|\bBLEU\b|standard deviation|\bcoverage\b"
    r"|\bconfidence\b|\btemperature\b|\bthresholds?\b|\bcalibration\b|\bcorrelation\b",
)
"""What a number may be that runs do not record."""
SCORES = (BITS, ACCURACY, PERPLEXITY, F1, LOSS, OWN, OTHER)
SIZES = (PARAMETERS, SECONDS, MINUTES, HOURS, SEEDS, N, ROWS, STEPS, EPOCHS, TOKENS)
ALL = (*SCORES, *SIZES, *SETTINGS)

FAR = 300
"""Characters around a number in which it is said what it is."""
_SPLIT_WORD = r"(?:dev|test|train(?:ing)?|validation|held-out|mean|macro)"
_NO_QUANTITY_BEFORE = re.compile(
    # a figure's number, an error bar, a range, a difference, a p-value
    r"(?:\b(?:fig(?:ure)?s?|tables?|sec(?:tion)?s?|chapters?|eqs?|equations?|appendix|pages?|parts?"
    r"|problems?|questions?|tasks?|exercises?|versions?|steps?|epochs?|layers?|heads?|rows?|lines?"
    r"|topics?)\.?\s*\(?|[§#±–—[]\s*|\+/-\s*|\bbetween\b[^.;]{0,20}?\s|\bby\s+(?:about|only)?\s*"
    r"|\bp\s*[=<>≤≥]\s*)$",
    re.I,
)
_NO_QUANTITY_AFTER = re.compile(
    # a range, a level of confidence, a difference, a ratio
    r"\s*[–—]\s*\d|\W*(?:confidence|credible|CI\b|interval)|\s*(?:percentage\s+)?points?\b|\s*pp\b"
    r"|\s*(?:×|times\b|relative\b|better\b|worse\b|higher\b|lower\b|more\b|less\b|above\b|below\b)",
    re.I,
)
_VERBS = (
    r"(?:reach|scor|achiev|obtain|attain|yield|giv|remain|stay|show|record|report|measur|end|exceed"
    r"|equal|us)\w*"
)
_BEFORE_SCORE = re.compile(
    rf"(?:[{NAME}(:=,;/~≈<>≤≥|]|(?:\b|'s )(?:{_VERBS}|{_SPLIT_WORD}|get|gets|got|gave|of"
    r"|is|was|are|were|be|been|at|to|has|had|have|with|and|or|vs\.?|versus|than|from|only|just|even"
    r"|still|about|around|roughly|nearly|almost|approximately|least|most|than|over|above|below|under"
    r"|an?|the|its|against))\s*$",
    re.I,
)
"""What may stand right before a score whose metric was named earlier in the sentence."""
_BETWEEN = re.compile(
    rf"(?:[\s{NAME}(:=,~≈<>≤≥|]|\b(?:of|is|was|are|were|at|to|and|or|an?|the|about|only|with|value|set"
    rf"|fixed|score|equals?|on|both|{_SPLIT_WORD})\b)*",
    re.I,
)
"""What may stand between a name and a whole number or a setting."""
_REACHES = re.compile(
    r"(?:\b(?:reach|scor|achiev|obtain|attain|get|got)\w*\s*(?:up to|to|at|about|only|around)?"
    rf"|{NAME}\s*(?:\(|:|=|at|with|has|and|only|is at)?|(?:,|\band)\s+(?:on\s+)?{_SPLIT_WORD}"
    r"|\b(?:majority|baseline|chance|guessing)\b[^.;]{0,20}?\b(?:is|at|of|gives|with))\s*$",
    re.I,
)
"""What may stand right before a score whose metric is not named at all."""
_SPLIT = re.compile(
    r"\b(?:(?P<dev>dev(?:elopment)?|val(?:id(?:ation)?)?)|(?P<test>test)|(?P<held>held[- _]?out\w*)"
    r"|(?P<train>on train|in train|train(?:ing)?"
    r"(?=[ _-](?:acc|loss|perp|set|split|data|score|ex|row|sen|text|que|f1))))\b",
    re.I,
)
SPLIT_NAMES = {
    "dev": ("dev", "held_out", "held_out_text"),
    "test": ("test",),
    "held": ("held_out", "held_out_text"),
    "train": ("train",),
}
"""Which splits of runs may be meant by each kind of name."""


def quantity_of(text: str, number: Number) -> Quantity | None:
    """Say what a number in a sentence is; None if it is nothing that runs record.

    In "`a` reaches 84.5 %" it is a score by the run's own metric.
    """
    before = text[max(0, number.start - FAR) : number.start]
    after = text[number.end : number.end + FAR]
    if _NO_QUANTITY_BEFORE.search(before) or _NO_QUANTITY_AFTER.match(after):
        return None
    for one in ALL:
        if one.units and re.match(rf"[\s-]{{0,2}}(?:{one.units})", after, re.I):
            return one if _can_be(one, number) else None
    found = _named_after(after, number) or _named_before(before, number)
    return found if found is not OTHER else None


def heading_quantity(text: str) -> Quantity | None:
    """Say what the numbers of a column or row are, from its title."""
    found = next((one for one in ALL if re.search(one.words, text, re.I)), None)
    return found if found is not OTHER else None


def nearest_quantity(text: str, place: int) -> Quantity | None:
    """Return what is named next after a place in a text, or else before it."""
    places = [
        (match.end() < place, abs(match.start() - place), order)
        for order, one in enumerate(ALL)
        for match in re.finditer(one.words, text, re.I)
    ]
    return ALL[min(places)[2]] if places else None


def splits_in(text: str) -> list[tuple[int, int, str]]:
    """Find the splits that a text names: where, and by which kind of name."""
    return [(m.start(), m.end(), str(m.lastgroup)) for m in _SPLIT.finditer(text)]


def _named_after(after: str, number: Number) -> Quantity | None:
    for one in SCORES:
        if re.match(rf"\s*(?:{_SPLIT_WORD}\s+){{0,2}}(?:{one.words})", after, re.I):
            return one if _can_be(one, number) else None
    return None


def _named_before(before: str, number: Number) -> Quantity | None:
    named = [
        (match.end(), one)
        for one in ALL
        if _can_be(one, number)
        for match in re.finditer(one.words, before, re.I)
    ]
    is_loose = number.in_percent or not number.is_whole
    if named:
        end, one = max(named, key=lambda pair: pair[0])
        gap = before[end:]
        is_score = one.kind == "score" and is_loose
        if not gap.strip() or (_BEFORE_SCORE.search(gap) if is_score else _BETWEEN.fullmatch(gap)):
            return one
    return OWN if is_loose and _REACHES.search(before) else None


def _can_be(quantity: Quantity, number: Number) -> bool:
    """Say whether a number can be such a quantity: a percentage is a share, a count is whole."""
    if number.in_percent:
        return quantity.is_share or quantity in (OWN, OTHER)
    return not quantity.is_count or number.step >= 1
