"""What is done with traces and runs: validate, compare, gate, repeat nightly, pool, explain."""
