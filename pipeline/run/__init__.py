"""One evaluation: its plan, and the hosts that carry it out."""
