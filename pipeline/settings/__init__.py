"""The settings that more than one command or module reads, and the files that hold them."""
