import pytest

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.formats import FORMATS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from tests.core.direct import plan

pytestmark = pytest.mark.slow

# Ids that contain each other, and characters that some formats escape.
IDS = ["a", "aa", 'b"c', "d\\e", "Ünïcode", "line\nbreak", "</script>", *map(str, range(3_000))]


@pytest.fixture(scope="module", params=list(FORMATS))
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "iterations").mkdir()
    file_format = FORMATS[request.param]
    for part in range(2):
        rows = [_row(identity, i) for identity in IDS[part::2] for i in (1, 2)]
        name = f"part-{part:05}-of-00002{file_format.suffix}"
        with open(folder / "iterations" / name, "wb") as file:
            file_format.write(datasets.iterations(plan(())), rows, file)
    return str(folder)


def _row(identity, i):
    values = {metric.name: i if metric.whole else i / 2 for metric in GAINS.by_i}
    return {"conversation_id": identity, "turn": 1, "attributes": {"k": "v"}, **values} | {
        "i": i,
        "iteration": i,
    }


@pytest.mark.parametrize("wanted", [{"a"}, set(IDS[:7]), {"0", "2999"}, {"missing"}, set()])
def test_rows_equal_those_of_the_dataset_with_these_ids(folder, wanted):
    found = list(read_dataset(folder, "iterations", wanted))
    expected = [
        row for row in read_dataset(folder, "iterations") if row["conversation_id"] in wanted
    ]
    assert found == expected
    assert {row["conversation_id"] for row in found} == wanted & set(IDS)
