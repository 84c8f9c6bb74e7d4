"""The classification lab: fine-tune a pretrained encoder to classify text."""
