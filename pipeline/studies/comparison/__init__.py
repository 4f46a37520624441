"""Comparing two arms: two outputs of `goodgain run`, or two values of an attribute in one."""
