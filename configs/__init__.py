"""What a user of Good Gain edits, and the schemas and small data sets that ship with it."""
