"""What a tool answered: its documents, its text, or its error, out of every envelope known."""
