"""What is evaluated, with what: inputs, rules, labels and pool."""
