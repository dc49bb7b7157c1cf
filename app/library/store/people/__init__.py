"""People: their roles and rights, their sign-ins on the page, and the audit log of what they do."""
