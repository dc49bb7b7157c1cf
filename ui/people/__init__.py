"""People on the page: who they are, what they may do, and whom a collection is shared with."""
