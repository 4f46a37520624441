"""The manifest of a pool is read as it was built, or refused with the field that is wrong."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import MANIFEST, manifest_json
from goodgain.pipeline.results.pool_store import read_pool
from tests.pipeline.runs import call, write_jsonl


@pytest.fixture
def pool(tmp_path):
    """A pool of one run with labels beside the traces."""
    traces = write_jsonl(tmp_path / "a.jsonl", [call("c", 1, [{"id": "x"}, {"id": "y"}])])
    labels = write_jsonl(
        tmp_path / "labels.jsonl", [{"conversation_id": "c", "iteration": 1, "rank": 1, "gain": 3}]
    )
    words = ["pool", "build", "--run", f"a={traces}", "--labels", labels]
    assert main([*words, "--output", str(tmp_path / "pool")]) == ExitCode.DONE
    return tmp_path / "pool"


def test_is_written_again_as_it_was(pool, capsys):
    capsys.readouterr()
    manifest = read_pool(str(pool)).manifest
    assert manifest_json(manifest) == (pool / MANIFEST).read_bytes()
    assert manifest.last_build.by_run["a"].labels.joined == 1
    assert main(["pool", "show", str(pool), "--json"]) == ExitCode.DONE
    shown = json.loads(capsys.readouterr().out)["pool"]
    assert shown == json.loads((pool / MANIFEST).read_text())


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (("digest",), "Object missing required field `digest`"),
        (("content", "topics"), "content: Object missing required field `topics`"),
        (("runs", "a", "inputs"), "runs[...]: Object missing required field `inputs`"),
    ],
)
def test_a_missing_field_is_named(path, named, pool, capsys):
    manifest = json.loads((pool / MANIFEST).read_text())
    *above, key = path
    part = manifest
    for name in above:
        part = part[name]
    del part[key]
    (pool / MANIFEST).write_text(json.dumps(manifest))
    capsys.readouterr()
    assert main(["pool", "show", str(pool)]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        f"goodgain: {pool}/{MANIFEST} cannot be used ({named}). If another version of goodgain "
        "wrote it, or it was changed since, build it again.\n"
    )
