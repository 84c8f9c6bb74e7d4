"""Why this class? A run's classifier on one text, and which of its tokens mattered, in two ways."""

from typing import Any

from attnlab.errors import UserError
from attnlab.models.attribution import gradient_times_input, leave_one_out
from attnlab.recipes.classify.predict_texts import TextSession
from attnlab.training.inference import inference

LEFT_OUT_AT_ONCE = 32
"""Tokens; a long text needs several requests, between which others have their turn."""


class ExplainingSession(TextSession):
    """A run's classifier, ready to classify texts and to say what its tokens were worth."""

    def classify(self, text: str, pair: str | None, label: str | None) -> dict[str, Any]:
        """Return the probabilities, and gradient × input for a class: if none is given, the best.

        Probabilities and prediction are those of `attnlab classify predict --text`.
        """
        example = self.example(text, pair)
        row = self.classifier.row(example)
        with inference(self.classifier.model, self.hardware):
            (answer,) = self.classifier.answers([example], [row])
            label = answer["prediction"] if label is None else label
            shares = gradient_times_input(self.classifier.model, row, self._number(label))
        framing = self.classifier.tokenizer.framing_ids
        return {
            "prediction": answer["prediction"],
            "confidence": answer["confidence"],
            "probabilities": answer["probabilities"],
            "label": label,
            "tokens": self.classifier.tokenizer.pieces(row.tokens),
            "is_text": [token not in framing for token in row.tokens],
            "gradient_times_input": shares,
            "is_cut": self.is_cut(text, pair),
        }

    def leave_one_out(
        self, text: str, pair: str | None, *, label: str, start: int = 0
    ) -> dict[str, Any]:
        """Return by how much a class's probability falls without some tokens, one at a time.

        Tokens that come from no text, such as [CLS], are not left out. ``next`` is where to go on;
        None at the end.
        """
        example, number = self.example(text, pair), self._number(label)
        row, framing = self.classifier.row(example), self.classifier.tokenizer.framing_ids
        places = [i for i, token in enumerate(row.tokens) if token not in framing and i >= start]
        some = places[:LEFT_OUT_AT_ONCE]
        with inference(self.classifier.model, self.hardware):
            (answer,) = self.classifier.answers([example], [row])
            left = leave_one_out(self.classifier.model, row, some, label=number)
        whole = answer["probabilities"][label]
        return {
            "probability": whole,
            "falls_by": {str(i): whole - one for i, one in zip(some, left, strict=True)},
            "next": places[len(some)] if len(places) > len(some) else None,
        }

    def _number(self, label: str) -> int:
        if label not in self.classifier.classes:
            known = ", ".join(self.classifier.classes)
            raise UserError(f"there is no class {label!r}. Known: {known}.")
        return list(self.classifier.classes).index(label)
