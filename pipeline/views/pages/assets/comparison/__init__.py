"""Templates and scripts of the page."""
