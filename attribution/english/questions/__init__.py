"""Questions of a conversation, completed so that each can be understood alone."""
