"""`propcite setup`: settings that fit a machine, written to propcite.toml and tried on the demo question."""
