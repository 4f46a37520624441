"""HTML pages of runs, comparisons and nights; each is one file that opens from disk."""
