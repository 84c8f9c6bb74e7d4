"""attnlab: a laboratory for attention, pretraining and fine-tuning."""

__version__ = "0.1.0"
