"""Consoles and tables shared by everything that prints to a terminal."""
