"""The settings of commands, but for those that stand beside their command, and their files."""
