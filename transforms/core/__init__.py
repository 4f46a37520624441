"""The records, rules and arithmetic of the evaluation, without Beam."""
