"""The knowledge lab: pretrain on text, then ask what it said."""
