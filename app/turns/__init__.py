"""Turns: who may compute now, who waits, and who is refused before waiting too long.

| module | content |
|---|---|
| `costs` | how many seconds work will take, learned from what it took |
| `fair_queue` | what waits, in an order that is fair to every client |
| `turns` | a number of turns at once; refuses what would wait too long |
| `jobs` | the work of one request: pauses when its turn is over, ends when its client is gone |
| `workers` | runs work in threads, each in its turn |
| `slots` | places of answers that are written, which wait in an event loop |
"""
