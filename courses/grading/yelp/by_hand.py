"""What a student writes who does not know how we did it; right until something is replaced."""

MASKED_PASS = """
hidden = self.bert(input_ids, attention_mask, token_type_ids)
scores = self.mlm_head(hidden, self.bert.embeddings.words.weight)
if masked_lm_labels is None:
    return (scores,)
loss = F.cross_entropy(scores.flatten(0, 1), masked_lm_labels.flatten())
return loss, scores
"""
ANSWERS = {
    "Problem 2, mymodel.py: make": """
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.d_model, num_labels)""",
    "Problem 2, mymodel.py: write": """
        hidden = self.bert(input_ids, attention_mask, token_type_ids)
        logits = self.classifier(self.dropout(hidden[:, 0]))
        if labels is None:
            return (logits,)
        return F.cross_entropy(logits, labels), logits""",
    "Problem 3, 1(a), mymodel.py: write MLMHead": """
        hidden = self.norm(self.activation(self.transform(hidden)))
        return hidden @ table.T + self.bias""",
    "Problem 3, 1(a), mymodel.py: write BertForMaskedLanguageModel": MASKED_PASS,
    "Problem 3, 1(a), mymodel.py: write BertForCLSMLM": MASKED_PASS,
    "Problem 3, 1(b), classifier_mlm.py": """
        import torch

        inputs = torch.nn.utils.rnn.pad_sequence(
            list(rows), batch_first=True, padding_value=tokenizer.pad
        )
        original = inputs.clone()
        is_special = torch.isin(inputs, torch.tensor(sorted(tokenizer.special_ids)))
        is_chosen = (torch.rand(inputs.shape) < mlm_probability) & ~is_special
        fate = torch.rand(inputs.shape)
        inputs[is_chosen & (fate < 0.8)] = tokenizer.mask
        is_random = is_chosen & (fate > 0.9)
        inputs[is_random] = torch.randint(5, len(tokenizer), inputs.shape)[is_random]
        labels = original.masked_fill(~is_chosen, -100)
        return inputs, labels""",
}
"""By how the lines begin that stand in their place."""
