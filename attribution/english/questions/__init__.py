"""Questions: those of a conversation completed, and those that ask several things split, so that each stands alone."""
