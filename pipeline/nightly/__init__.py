"""The nightly job: one day of traces scored, compared, judged, published and reported."""
