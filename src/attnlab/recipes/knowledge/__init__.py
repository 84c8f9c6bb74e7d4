"""The knowledge lab: pretrain on text, then ask for what stood in it."""
