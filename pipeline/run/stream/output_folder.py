"""The output folder of a stream: empty at its start, or from `--since` on."""

from __future__ import annotations

from goodgain.pipeline.results.datasets import REJECTED_OUTCOMES
from goodgain.pipeline.results.output_kinds import STREAM_OUTPUTS
from goodgain.pipeline.results.replacement import clear, prepare
from goodgain.pipeline.run.stream.panes import pane_of
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.file_listing import list_files_below
from goodgain.transforms.filesystems import delete


def make_room(config: StreamConfig) -> None:
    """Check the output folder, and with `--overwrite` delete what the stream writes anew.

    Raises:
      UsageError: it cannot be written to, is not empty without `--overwrite`, or holds files that
        no stream wrote.
    """
    folder, since = config.output, config.since_window
    prepare(folder, config.overwrite, STREAM_OUTPUTS)
    if since is None:
        clear(folder)
        return
    for path in list_files_below(folder):
        *_, dataset, name = path.split("/")
        pane = pane_of(name)
        if pane is None:
            continue
        # Every row of outcomes is read and reported anew.
        is_written_anew = dataset == REJECTED_OUTCOMES.name
        if is_written_anew or (pane.window is not None and pane.window >= since):
            delete(path)
