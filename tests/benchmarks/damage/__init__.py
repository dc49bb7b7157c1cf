"""What a library does when its files are damaged and its writers are killed, counted."""
