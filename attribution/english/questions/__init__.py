"""Complete a question of a conversation by rules: what it leaves out is filled from the question before."""

from propcite.attribution.english.questions.follow_ups import Exchange, standing_alone

__all__ = ["Exchange", "standing_alone"]
