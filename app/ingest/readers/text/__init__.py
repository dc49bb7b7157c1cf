"""Plain text: `lines` undoes what was made for printers, `wrapping` joins wrapped paragraphs."""
