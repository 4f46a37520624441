"""Files for users to edit, schemas and small data sets."""
