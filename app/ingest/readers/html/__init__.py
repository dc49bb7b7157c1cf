"""HTML: `tree` parses it, `parts` finds what is hidden or the site's own, `blocks` writes it, `page` reads a file."""
