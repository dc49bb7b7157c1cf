"""Show, change and try settings: what `propcite settings` and the page's Settings do."""
