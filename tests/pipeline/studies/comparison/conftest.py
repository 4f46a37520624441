import pytest

from tests.pipeline.studies.comparison.traces import (
    base_arm,
    candidate_arm,
    conversation,
    output_of,
)


@pytest.fixture(scope="session")
def outputs(tmp_path_factory):
    """Base and candidate; the candidate lacks c38, has c40, and its c39 does not search."""
    folder = tmp_path_factory.mktemp("outputs")
    candidate = candidate_arm()
    candidate[39] = conversation("c39", [[2]], turn_count=2, market="fr", query_id="q39")
    candidate[38] = conversation("c40", [[4]], market="es", query_id="q40")
    return (
        output_of(folder / "base", base_arm(), format="jsonl"),
        output_of(folder / "candidate", candidate, format="parquet"),
    )


@pytest.fixture(scope="session")
def arms(tmp_path_factory):
    """An output with arms A and B over the same queries; q00 ran twice in A; one has no arm."""
    twice = conversation("again", [[4, 4]], market="fr", query_id="q00", arm="A")
    without_arm = conversation("nowhere", [[4]], market="fr", query_id="q01")
    conversations = [*base_arm("a", arm="A"), *candidate_arm("b", arm="B"), twice, without_arm]
    return output_of(tmp_path_factory.mktemp("arms") / "arms", conversations)
