"""The settings of every command, and the files that hold them."""
