"""The words, rules and arithmetic of the evaluation; no Beam in here."""
