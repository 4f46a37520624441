"""What is done with runs: compare, gate, repeat nightly, pool, explain."""
