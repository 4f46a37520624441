"""The report over all days of the nightly job: verdicts, and each metric from day to day."""
