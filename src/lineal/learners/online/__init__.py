"""Learning from streams: one row at a time, each judged before it is learned from."""
