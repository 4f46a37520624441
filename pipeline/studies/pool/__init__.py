"""Pools: building, updating, labelling and judging them (SPEC 9)."""
