"""What a run must settle about attention before it builds a model."""

from attnlab.attention import fast_path
from attnlab.attention.assemble import hash_of_users_files
from attnlab.attention.settings import AttentionSettings
from attnlab.training.session import Session


def settle_attention(session: Session, attention: AttentionSettings) -> None:
    """Take the way to compute it that the run began with, and refuse a user's file that changed."""
    fast_path.use(session.resolve_once("fused_attention_from", fast_path.recorded_or_measured))
    session.insist(
        "attention_files",
        session.world.from_lead(lambda: hash_of_users_files(attention)),
        what=f"the file of attention {attention.name!r}",
    )
