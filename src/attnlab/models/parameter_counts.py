"""Whether a model fits into memory, known from its size before anything of it is made.

Parameters are counted by the settings that they come from, with dot-product attention in every
layer; other variants differ from it by less than a layer. Loads no torch.
"""

from collections.abc import Mapping

from attnlab.models.sizes import BertSize, ModelSettings
from attnlab.runs.memory import need_memory

FLOAT32 = 4
"""Bytes of a parameter."""
TO_TRAIN = 4
"""Numbers per parameter: itself, its gradient and the optimizer's two moments."""
Parameters = Mapping[str, int]
"""Numbers of parameters, by the part of the model and the settings that it comes from."""


def gpt_parameters(size: ModelSettings, *, vocab_size: int, max_len: int) -> Parameters:
    """Count the parameters of a GPT."""
    width, rows = size.d_model, size.ngram_table.rows
    positions = max_len if size.attention.positions == "learned" else 0
    return {
        f"n_layers = {size.n_layers} with d_model = {width}": size.n_layers
        * (12 * width**2 + 13 * width)
        + 2 * width,
        f"a vocabulary of {vocab_size} with d_model = {width}": 2 * vocab_size * width,
        f"max_len = {max_len} with d_model = {width}": positions * width,
        f"ngram_table.rows = {rows} with d_model = {width}": rows * width,
    }


def bert_parameters(size: BertSize) -> Parameters:
    """Count the parameters of a BERT's body, under the names of its config.json."""
    width, mlp = size.d_model, size.d_mlp
    layer = 4 * width**2 + 2 * width * mlp + 9 * width + mlp
    rest = (size.max_len + size.n_types + 2) * width
    return {
        f"num_hidden_layers = {size.n_layers} with hidden_size = {width} and"
        f" intermediate_size = {mlp}": size.n_layers * layer,
        f"vocab_size = {size.vocab_size} with hidden_size = {width}": size.vocab_size * width,
        f"max_position_embeddings = {size.max_len}, type_vocab_size = {size.n_types} and"
        f" hidden_size = {width}": rest,
    }


def need_memory_for(parameters: Parameters, *, trains: bool, origin: str) -> None:
    """Refuse a model that cannot fit; the message names the settings of its largest part."""
    copies = TO_TRAIN if trains else 1
    largest = max(parameters, key=parameters.__getitem__)
    what = f"{origin}: a model of {largest}{', to train,' if trains else ''}"
    need_memory(FLOAT32 * copies * sum(parameters.values()), what)
