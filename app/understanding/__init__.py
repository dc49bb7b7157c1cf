"""What a question of a conversation means by itself, by rules: what it leaves out is filled from the one before."""

from app.understanding.follow_ups import standing_alone

__all__ = ["standing_alone"]
