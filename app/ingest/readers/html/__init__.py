"""HTML: `tree` parses it, `parts` tells what is hidden or the site's own, `blocks` writes it, `page` reads a file."""
