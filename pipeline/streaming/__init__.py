"""`goodgain stream`: the same pipeline over records that keep coming (SPEC 7)."""
