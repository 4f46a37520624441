"""Views of results: one document for each subject, and the pages in HTML."""
