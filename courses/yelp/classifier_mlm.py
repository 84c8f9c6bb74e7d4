"""Fine-tune BERT to classify text, jointly with masked language modelling on unlabelled text.

    python classifier_mlm.py --model_type bert --model_name_or_path models/tinybert \\
        --task_name yelp --do_train --do_eval --data_dir data --per_gpu_train_batch_size 32 \\
        --learning_rate 3e-5 --num_train_epochs 3 --logging_steps 50 --max_seq_length 128 \\
        --output_dir out_mlm --evaluate_during_training --train_data_file data/unlabeled.txt \\
        --block_size 128 --mlm_alpha 0.5 --line_by_line --overwrite_output_dir

The loss is that of the classes plus mlm_alpha times that of the masked tokens; the step that is best
on dev is kept.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("classifier_mlm.py")  # what follows takes a while to load

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from classifier import Classifier, parser_of, run, settings_of, train_and_show

from attnlab.recipes.classify.settings import MaskedSettings


def get_mlm_inputs(rows: Sequence[Any], tokenizer: Any, mlm_probability: float) -> tuple[Any, Any]:
    """Return the input_ids of a batch with some tokens masked, and their labels.

    ``rows`` are LongTensors of different lengths, ``[CLS] … [SEP]`` each. Both results have one row
    per text, padded to the longest. A label is the original token where one was masked, and -100
    everywhere else. Every call masks other tokens.
    """
    # Of each row, choose tokens with mlm_probability, never [CLS], [SEP] or padding. Of those, 80 %
    # become [MASK], 10 % a random token, and 10 % stay as they are. See mlm_utils.py.
    # TODO: Problem 3, 1(b), classifier_mlm.py: get the MLM inputs of a batch of rows.
    # <solution>
    from mlm_utils import mask_tokens

    return mask_tokens(rows, tokenizer, mlm_probability)
    # </solution>


class JointClassifier(Classifier):
    """What Problem 3 trains: a classifier and a masked language model on one body."""

    def load_model(self, n_classes: int) -> Any:
        """Read the pretrained model, with both heads."""
        from mymodel import BertForCLSMLM

        return self._read(BertForCLSMLM, n_classes)

    def unlabelled(self) -> Any:
        """Return the Dataset of the unlabelled text, and what masks some of its rows."""
        from mlm_utils import LineByLineTextDataset, TextDataset

        masked = self.settings.masked
        if not masked.alpha:
            return None
        kind = LineByLineTextDataset if masked.line_by_line else TextDataset
        dataset = kind(self.tokenizer, masked.text, masked.block)
        mask = partial(get_mlm_inputs, tokenizer=self.tokenizer, mlm_probability=masked.share)
        return dataset, mask

    def unlabelled_lines(self) -> list[str]:
        """Return the unlabelled text, in which the record looks for texts of dev and test."""
        from attnlab.data.text_files import read_lines

        masked = self.settings.masked
        return read_lines(Path(masked.text)) if masked.alpha else []


def joint_parser() -> argparse.ArgumentParser:
    """Return a parser with the flags of Problem 3: those of Problem 2, and those of the text."""
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--train_data_file", required=True, metavar="FILE", help="unlabelled text, one a line")
    add("--block_size", type=int, default=128, metavar="N", help="most tokens of a row")
    add("--mlm_alpha", type=float, default=0.5, metavar="A", help="weight of the second loss")
    add("--mlm_probability", type=float, default=0.15, metavar="R", help="share of tokens chosen")
    add(
        "--line_by_line", action="store_true", help="one row per line, instead of joining the lines"
    )
    return parser


def train_jointly(options: argparse.Namespace) -> None:
    """Train a classifier and a masked language model on one body."""
    masked = MaskedSettings(
        text=options.train_data_file,
        alpha=options.mlm_alpha,
        share=options.mlm_probability,
        block=options.block_size,
        line_by_line=options.line_by_line,
    )
    train_and_show(JointClassifier, replace(settings_of(options), masked=masked), options)


def main() -> None:
    """Train a classifier together with masked text."""
    run(joint_parser(), train_jointly)


if __name__ == "__main__":
    main()
