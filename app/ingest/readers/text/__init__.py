"""Plain text: `lines` undoes what was made for printers, `wrapping` tells where a line break is only a line's end."""
