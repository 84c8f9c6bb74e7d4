"""The third lab: fine-tune a pretrained encoder to tell classes of text."""
