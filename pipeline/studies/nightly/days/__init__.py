"""The days of the nightly job: their dates, folders and entries in the history."""
