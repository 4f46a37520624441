"""What tests of the pipeline share: a browser for all HTML pages, and trace files."""

import json

import pytest

from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.pipeline.views.pages.browser import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A real Chromium with its own profile; `opened` resets what earlier tests changed."""
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """The path of traces of eight conversations, for tests to which it matters not how many."""
    path = str(tmp_path_factory.mktemp("few") / "few.avro")
    write_sample(SampleConfig(conversations=8, bad_share=0.0), path)
    return path


@pytest.fixture
def traces(tmp_path):
    """A function that writes records, or lines as they are, to a file and returns its path."""

    def write(*records, name="traces.jsonl"):
        path = tmp_path / name
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    return write
