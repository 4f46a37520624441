"""Building Prism, with a fake `go`."""

import stat
from pathlib import Path

import pytest

from goodgain.pipeline.run.engines import parent_guard
from goodgain.pipeline.run.engines.prism_build import build_prism
from goodgain.transforms.core.errors import GoodGainError, UsageError


def path_with_go(folder, script):
    """Write a fake `go`, and return a PATH that finds it."""
    folder.mkdir()
    go = folder / "go"
    go.write_text(f"#!/bin/sh\n{script}\n")
    go.chmod(go.stat().st_mode | stat.S_IEXEC)
    return f"{folder}:/usr/bin:/bin"


def test_builds_once_and_atomically(tmp_path, monkeypatch):
    script = f'echo "$@" >> {tmp_path}/calls; printf prism > "$GOBIN/prism"'
    monkeypatch.setenv("PATH", path_with_go(tmp_path / "bin", script))
    binary = tmp_path / "cache" / "prism-1" / "prism"
    said = []
    assert build_prism(binary, said.append) == build_prism(binary, said.append) == binary
    assert said == ["goodgain: building Prism with Go; this takes a few minutes."]
    assert binary.read_text() == "prism"
    assert [folder.name for folder in binary.parent.parent.iterdir()] == ["prism-1"]
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.startswith("install -v github.com/apache/beam/sdks/v2/go/cmd/prism@v")


def test_says_how_far_go_is(tmp_path, monkeypatch):
    script = 'for at in $(seq 120); do echo "package/$at" >&2; done; printf prism > "$GOBIN/prism"'
    monkeypatch.setenv("PATH", path_with_go(tmp_path / "bin", script))
    said = []
    build_prism(tmp_path / "cache" / "prism-1" / "prism", said.append)
    assert said[1:] == [
        "goodgain: 50 packages so far, now package/50",
        "goodgain: 100 packages so far, now package/100",
    ]


def test_messages_of_go_are_shown(tmp_path, monkeypatch):
    script = "echo 'go: needs go1.26' >&2; exit 1"
    monkeypatch.setenv("PATH", path_with_go(tmp_path / "bin", script))
    with pytest.raises(GoodGainError, match=r"could not be built .*go: needs go1\.26"):
        build_prism(tmp_path / "cache" / "prism-1" / "prism")
    assert not list((tmp_path / "cache").iterdir())


def test_says_what_to_do_if_go_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = []
    expected = r"there is no `go` on the PATH: install it .*`goodgain stream --prism_location=PATH`"
    with pytest.raises(UsageError, match=expected):
        build_prism(tmp_path / "cache" / "prism-1" / "prism", said.append)
    assert said == []


def test_script_that_ends_prism_with_its_parent_exists():
    assert Path(parent_guard.__file__).is_file()
