"""`goodgain stream`: the same pipeline over an unbounded stream of records (SPEC 7)."""
