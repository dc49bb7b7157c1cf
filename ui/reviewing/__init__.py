"""Drafts under review: sent, followed while they are cited, and decided on statement by statement."""
