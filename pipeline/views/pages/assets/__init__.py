"""The templates, styles and scripts of the page."""
