"""Many texts at once: JSON lines in and out, in this process, in several, or over the machines of a cluster."""
