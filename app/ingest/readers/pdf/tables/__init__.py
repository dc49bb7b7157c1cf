"""Tables: `regions` finds them, `rows` has their words, `names` their names and labels, `writing` their lines."""
