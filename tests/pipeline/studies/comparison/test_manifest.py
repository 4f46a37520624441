"""The manifest that a comparison builds is the one that its report reads back."""

import pytest

from goodgain.pipeline.results.finished_run import read_manifest
from goodgain.pipeline.results.manifest_checks import decode_manifest
from goodgain.pipeline.studies.comparison.compare import compare
from goodgain.pipeline.studies.comparison.manifest import ComparisonManifest
from goodgain.pipeline.studies.comparison.output import (
    manifest_of_comparison,
    plain_values,
    write,
)
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from tests.pipeline.studies.comparison.traces import conversation, output_of


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Two runs over the same conversations, of which the second found more."""
    folder = tmp_path_factory.mktemp("runs")
    arms = ([[at % 3, 1]] for at in range(9)), ([[at % 4, 4]] for at in range(9))
    return tuple(
        str(
            output_of(
                folder / name,
                [
                    conversation(f"c{at}", gains, query="ab"[at % 2])
                    for at, gains in enumerate(of_arm)
                ],
            )
        )
        for name, of_arm in zip(("base", "candidate"), arms, strict=True)
    )


@pytest.mark.parametrize("options", [{}, {"unpaired": True}, {"slices": (("query",),)}])
def test_reading_back_gives_what_the_comparison_built(options, outputs, tmp_path):
    built = []

    def report(_, manifest):
        built.append(manifest)
        return b""

    compared = compare(ComparisonRequest(outputs, **options))
    write(compared, str(tmp_path), "avro", report)
    read = decode_manifest(read_manifest(str(tmp_path)), ComparisonManifest, str(tmp_path))
    assert built == [read]
    assert read.datasets["comparison"] == len(compared.rows)


def test_what_is_not_written_has_no_numbers_of_rows(outputs):
    compared = compare(ComparisonRequest(outputs))
    plain = plain_values(manifest_of_comparison(compared))
    assert plain.keys() & {"datasets", "own_metrics", "pool", "ways"} == set()
    assert plain["kind"] == "comparison"
    assert plain["sensitivity"] is None
