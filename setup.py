"""What Beam ships to remote workers (`--setup_file ./setup.py`); the metadata is pyproject's."""

from setuptools import setup

setup(license="Apache-2.0")
