"""Show, change and try settings on the page."""
