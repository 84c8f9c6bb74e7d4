"""From settings to layers: what works together, and what a user is told if it does not."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.assemble import (
    attention_builder,
    build_positions,
    hash_of_users_files,
    supporting,
    supports_of,
    variant_class,
)
from attnlab.attention.contract import AttentionMask
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.recipes.attention.show import show_attention

B, T, D, H = 2, 7, 12, 3
SHAPE = {"d_model": D, "n_heads": H, "max_len": T}

OWN = """
import torch
from torch import nn
from attnlab.attention.contract import AttentionOutput

class Echo(nn.Module):
    supports = frozenset({"causal", "bidirectional"})

    def __init__(self, d_model, n_heads, max_len, *, gain: float = 2.0, plain=3):
        super().__init__()
        self.gain, self.plain = gain, plain

    def forward(self, x, *, mask, cache=None, prefix=None, need_weights=False):
        return AttentionOutput(self.gain * x)

class Boast(Echo):
    supports = frozenset({"causal", "speed"})

def score(q, k):
    return q @ k
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN, encoding="utf-8")
    return path


def build(settings: AttentionSettings, *, dropout: float = 0.0) -> nn.Module:
    positions = build_positions(settings, **SHAPE)
    return attention_builder(settings, positions, **SHAPE, dropout=dropout)()


def test_a_layer_gets_its_options_its_dropout_and_the_shared_positions() -> None:
    settings = AttentionSettings("sliding_window", {"window": 5}, "rotary", {"base": 50.0})
    positions = build_positions(settings, **SHAPE)
    builder = attention_builder(settings, positions, **SHAPE, dropout=0.25)
    first, second = builder(), builder()
    assert (first.window, first.dropout.p, positions.base) == (5, 0.25, 50.0)
    assert first is not second
    assert first.positions is second.positions is positions


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_positions_that_only_add_to_x_are_not_given_to_the_layers(positions: str) -> None:
    assert build(AttentionSettings("dot_product", positions=positions)).positions is None
    build(AttentionSettings("aft", positions=positions))  # which could not take them


def test_positions_that_an_attention_cannot_use_are_refused_with_those_that_can() -> None:
    with pytest.raises(
        UserError,
        match=r"^attention 'synthesizer' does not support rotary positions\. Those that do: cosine,"
        r" dot_product, gaussian, .*sliding_window\. learned, none, sinusoidal go with every",
    ) as told:
        build(AttentionSettings("synthesizer", positions="rotary"))
    assert "additive" not in str(told.value)


def test_it_is_refused_before_any_layer_is_built() -> None:
    settings = AttentionSettings("linear", positions="alibi")
    positions = build_positions(settings, **SHAPE)
    with pytest.raises(UserError, match=r"^attention 'linear' does not support alibi positions\."):
        attention_builder(settings, positions, **SHAPE)


def test_those_that_support_something_are_listed() -> None:
    assert "aft" not in supporting("weights")
    assert {"additive", "dot_product"} <= set(supporting("alibi"))
    assert "additive" not in supporting("rotary")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        (
            "aft",
            {"windw": 3},
            r"^attention 'aft' has no option 'windw'\. Did you mean 'window'\?"
            r" It takes: form, window, rank\.$",
        ),
        ("dot_product", {"window": 3}, r"^attention 'dot_product' has no option 'window'\. It tak"),
        ("dot_product", {"d_model": 3}, r"^attention 'dot_product' has no option 'd_model'"),
        (
            "sliding_window",
            {"window": "wide"},
            r"^attention 'sliding_window': option window = 'wide' is not possible: input should be",
        ),
        ("sliding_window", {"window": 1}, r"window = 1 is not possible: .* than or equal to 2\.$"),
        ("aft", {"form": "half"}, r"form = 'half' is not possible: .* 'full', 'local' or 'simple'"),
        ("performer", {"n_features": 0}, r"n_features = 0 is not possible: "),
        ("synthesizer", {"shared": "perhaps"}, r"shared = 'perhaps' is not possible: "),
        pytest.param(
            "mlp_projection",
            {"hidden": -3},
            r"hidden = -3 is not possible: ",
        ),
    ],
)
def test_options_are_checked_against_the_variant(
    name: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        build(AttentionSettings(name, options))


def test_an_option_written_as_text_is_understood() -> None:
    assert build(AttentionSettings("sliding_window", {"window": "4"})).window == 4


def test_options_of_positions_are_checked_too() -> None:
    with pytest.raises(
        UserError, match=r"^position scheme 'rotary' has no option 'bass'\. Did you"
    ):
        build(AttentionSettings(positions="rotary", position_options={"bass": 3.0}))


def test_a_misspelt_position_scheme_is_guessed() -> None:
    with pytest.raises(
        UserError,
        match=r"^no position scheme is called 'learnd'\. Did you mean 'learned'\?"
        r" Known: alibi, learned, none, rotary, sinusoidal\.$",
    ):
        build(AttentionSettings(positions="learnd"))


def test_a_misspelt_attention_is_guessed() -> None:
    with pytest.raises(
        UserError, match=r"^no attention is called 'synthesiser'\. Did you mean 'synthesizer'\?"
    ):
        build(AttentionSettings("synthesiser"))


def test_a_users_class_works_even_without_a_dropout_argument(own: Path) -> None:
    layer = build(AttentionSettings(f"{own}:Echo", {"gain": 3}), dropout=0.5)
    x = torch.randn(B, T, D)
    assert torch.equal(layer(x, mask=AttentionMask()).out, 3 * x)


def test_a_users_option_without_an_annotation_takes_anything(own: Path) -> None:
    assert build(AttentionSettings(f"{own}:Echo", {"plain": "text"})).plain == "text"


def test_a_users_class_of_another_folder_may_have_the_same_file_name(
    own: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "own.py"
    twin.write_text(OWN.replace("gain: float = 2.0", "gain: float = 5.0"), encoding="utf-8")
    gains = [build(AttentionSettings(f"{path}:Echo")).gain for path in (own, twin, own)]
    assert gains == [2.0, 5.0, 2.0]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ecoh", r"own\.py has no class or function 'Ecoh'\. Did you mean 'Echo'\? It has: Echo, "),
        ("Module", r"own\.py has no class or function 'Module'\."),  # nn.Module is only imported
        ("score", r"^attention '.*own\.py:score' is not a class derived from torch\.nn\.Module\.$"),
        ("", r"is not of the form path/to/file\.py:Name\.$"),
    ],
)
def test_a_name_that_is_no_class_of_the_users_file_is_refused(
    own: Path, name: str, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        build(AttentionSettings(f"{own}:{name}"))


def test_a_users_class_that_supports_what_nobody_knows_is_refused(own: Path) -> None:
    with pytest.raises(UserError, match=r"^Boast\.supports has speed\. Allowed: causal, bidirecti"):
        supports_of(variant_class(f"{own}:Boast"))


def test_a_users_class_gets_no_positions_it_does_not_support(own: Path) -> None:
    with pytest.raises(UserError, match=r"own\.py:Echo' does not support rotary positions\."):
        build(AttentionSettings(f"{own}:Echo", positions="rotary"))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"^there is no file nowhere/own\.py\.$"):
        build(AttentionSettings("nowhere/own.py:Echo"))


BROKEN = {
    "x = 1\ny = (\n": r"broken\.py, line 2: '\(' was never closed\.$",
    "x = 1\n\nx.nothing\n": r"broken\.py, line 3 fails: AttributeError: 'int'",
    "import nowhere_to_be_found\n": r"broken\.py, line 1 fails: ModuleNotFoundError: ",
    "def f():\n    1 / 0\n\nf()\n": r"broken\.py, line 2 fails: ZeroDivisionError: ",
}


@pytest.mark.parametrize("text", BROKEN, ids=["syntax", "attribute", "import", "in a function"])
def test_a_file_that_cannot_be_imported_is_told_with_the_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=BROKEN[text]):
        build(AttentionSettings(f"{path}:Echo"))


def test_the_line_is_told_of_a_relative_path_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text("\n1 / 0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^broken\.py, line 2 fails: ZeroDiv"):
        build(AttentionSettings("broken.py:Echo"))


def test_a_syntax_error_in_a_file_that_the_users_file_imports_is_told_of_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assemble_neighbour.py").write_text("\n\n\nx = (\n", encoding="utf-8")
    (tmp_path / "fine.py").write_text("import assemble_neighbour\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"assemble_neighbour\.py, line 4: "):
        build(AttentionSettings(f"{tmp_path / 'fine.py'}:Echo"))


def test_changed_files_of_positions_and_options_are_noticed(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py", "d.py"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    a, b, c, d = (f"{tmp_path / name}:x" for name in ("a.py", "b.py", "c.py", "d.py"))
    settings = AttentionSettings(a, {"score": b}, c, {"wave": d})
    before = hash_of_users_files(settings)
    for name in ("a.py", "b.py", "c.py", "d.py"):
        (tmp_path / name).write_text("changed", encoding="utf-8")
        after = hash_of_users_files(settings)
        assert after != before
        before = after
    assert hash_of_users_files(AttentionSettings()) is None


USERS_FAULTS = {
    "def __init__(self, d, h, n): raise ValueError('no\\nway')": r"line 4 fails: ValueError: no\.$",
    "def __init__(self, d, h, n): exit('bye')": r"line 4 fails: SystemExit: bye\.$",
    "supports = None": r"Faulty\.supports must be a set of strings, not None",
    "supports = 'causal'": r"Faulty\.supports must be a set of strings, not 'causal'",
}


@pytest.mark.parametrize("body", USERS_FAULTS)
def test_a_users_class_that_fails_is_told_with_its_line(tmp_path: Path, body: str) -> None:
    text = f"from torch import nn\n\nclass Faulty(nn.Module):\n    {body}\n"
    (tmp_path / "faulty.py").write_text(text, encoding="utf-8")
    name = f"{tmp_path / 'faulty.py'}:Faulty"
    with pytest.raises(UserError, match=USERS_FAULTS[body]):
        show_attention(name)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("lambda q, k: q * k", "must return one number for two vectors"),
        ("lambda q, k: float(q.sum())", r"score\.py, line 1 fails: RuntimeError"),
        ("lambda q: q.sum()", r"score\.py fails: TypeError"),
        ("lambda q, k: 1 / 0", r"score\.py, line 1 fails: ZeroDivisionError: division by zero"),
    ],
)
def test_a_score_that_cannot_be_used_is_refused_when_it_is_built(
    tmp_path: Path, score: str, message: str
) -> None:
    (tmp_path / "score.py").write_text(f"mine = {score}\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        build(AttentionSettings("custom", {"score": f"{tmp_path / 'score.py'}:mine"}))


@pytest.mark.parametrize("name", ["dropout", "positions"])
def test_what_the_model_gives_is_no_option(name: str) -> None:
    with pytest.raises(UserError, match=f"'dot_product': {name} is set by the model"):
        build(AttentionSettings("dot_product", {name: 0.5}))
    with pytest.raises(UserError, match=r"no option 'windw'.* It takes: window\.$"):
        build(AttentionSettings("sliding_window", {"windw": 3}))


def test_a_scheme_that_is_no_scheme_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def q(d, h, n): return 3\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"is not derived from contract\.Positions"):
        build(AttentionSettings(positions=f"{tmp_path / 'own.py'}:q"))


def test_a_users_file_may_register_itself(tmp_path: Path) -> None:
    text = (
        "from torch import nn\nfrom attnlab.attention import ATTENTION\n\n"
        '@ATTENTION.register("mine")\nclass Mine(nn.Module):\n'
        "    def __init__(self, d, h, n): super().__init__()\n"
    )
    (tmp_path / "other.py").write_text(text, encoding="utf-8")
    assert type(build(AttentionSettings(f"{tmp_path / 'other.py'}:Mine"))).__name__ == "Mine"
    assert "mine" not in ATTENTION.names()


@pytest.mark.parametrize(
    "constructor",
    ["", "    def __init__(self, d, h, n, **all): super().__init__(d, h, n, **all)\n"],
    ids=["inherited", "own"],
)
def test_a_score_on_our_frame_is_a_whole_variant(tmp_path: Path, constructor: str) -> None:
    text = (
        "from attnlab.attention.softmax_core import MultiHeadAttention\n\n"
        "class Mine(MultiHeadAttention):\n"
        "    supports = frozenset({'causal', 'rotary', 'weights'})\n"
        f"{constructor}"
        "    def score(self, q, k): return q @ k.transpose(-2, -1)\n"
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    layer = build(
        AttentionSettings(f"{tmp_path / 'mine.py'}:Mine", positions="rotary"), dropout=0.5
    )
    assert (layer.dropout.p, layer.positions.needs) == (0.5, "rotary")
    mask = AttentionMask(causal=True)
    out, weights = layer.eval()(torch.randn(B, T, D), mask=mask, need_weights=True)
    assert out.shape == (B, T, D)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T))
    assert not weights[~mask.dense(T, T, out.device).expand_as(weights)].any()
