"""An environment for the nightly job: traces by day, its configuration, and its notifications."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.report import Report
from goodgain.pipeline.studies.nightly.config import load_nightly_config
from goodgain.pipeline.studies.nightly.dependencies import NightViews

VIEWS = NightViews(
    day=lambda folder, manifest: Report(b"report"),
    nights=lambda entries: b"nights",
    history=lambda entries, late: "history",
    gate=lambda outcomes, date: "gate",
)
GATE = """
least_n: 5
rules:
  - unlabelled <= 10 %
  - conversations >= 10
  - {metric: CG, drop_at_most: 40 %}
"""
RUN = """
metrics: [ndcg@10]
max_rejected: 5%
max_i: 3
"""


def config_of(text):
    with TemporaryDirectory() as folder:
        path = Path(folder, "n.yaml")
        path.write_text(text)
        return load_nightly_config(str(path))


# The command of `notify`: appends what it reads as one line.
APPEND = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + '\\n')"


class World:
    """A folder with `traces/`, a configuration, and the outputs of the job in `nights/`."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.output = self.folder / "nights"
        self.config = self.folder / "nightly.yaml"

    def configure(self, **options):
        (self.folder / "gate.yaml").write_text(GATE)
        (self.folder / "run.yaml").write_text(RUN)
        given = {
            "input": str(self.folder / "traces/date={date}/*.jsonl"),
            "output": str(self.output),
            "run": str(self.folder / "run.yaml"),
            "gate": str(self.folder / "gate.yaml"),
            "notify": shlex.join((sys.executable, "-c", APPEND, str(self.folder / "told"))),
            **options,
        }
        self.config.write_text(json.dumps(given))  # JSON is YAML

    def trace_path(self, day, name="a"):
        path = self.folder / f"traces/date={day}/{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def make_traces(self, day, conversations, seed, name="a"):
        path = self.trace_path(day, name)
        options = {
            "output": path,
            "conversations": conversations,
            "seed": seed,
            "results": 4,
            "iterations": 2,
            "unlabelled-share": 0,
            "bad-share": 0,
            "start": f"{day}T06:00:00+00:00",
        }
        assert main(["sample", *(f"--{key}={value}" for key, value in options.items())]) == 0
        return path

    def nightly(self, *words):
        """Run `goodgain nightly`, and return its exit code."""
        return main(["nightly", "--config", str(self.config), *words])

    def place(self, day):
        return self.output / f"date={day}"

    def entry(self, day):
        """The `day.json` in the folder of the day."""
        return json.loads((self.place(day) / "day.json").read_text())

    def history(self):
        lines = (self.output / "history.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def verdicts(self):
        return {entry["date"]: entry["verdict"] for entry in self.history()}

    def notifications(self):
        """The notifications so far."""
        path = self.folder / "told"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def hidden(self):
        """Names of hidden files and folders, except the lock."""
        names = {path.name for path in self.output.iterdir() if path.name.startswith(".")}
        return sorted(names - {".lock"})

    def contents(self, day):
        """The content of every file of a day by relative path, without the times of the run."""
        times = self._times(day)
        return {
            str(path.relative_to(self.place(day))): _drop(path.read_bytes(), times)
            for path in sorted(self.place(day).rglob("*"))
            if path.is_file()
        }

    def _times(self, day):
        manifest = json.loads((self.place(day) / "manifest.json").read_text())
        entry = self.entry(day)
        minute = manifest["finished"][:16].replace("T", " ")  # as in the report
        texts = [manifest["started"], manifest["finished"], entry["started"], minute]
        return [*texts, f'"seconds": {entry["seconds"]}']


def _drop(content, times):
    for time in times:
        content = content.replace(time.encode(), b"")
    return content


def edit_records(path, change):
    """Apply `change` to the records of a file, with their numbers from 0."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for number, record in enumerate(records):
        change(record, number)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def edit_results(path, change):
    """Apply `change` to every result in a file of records."""
    edit_records(path, lambda record, _: [change(result) for result in record.get("results", ())])


def build_page_elsewhere(output):
    """The page over nights, built by a process that has not scored them."""
    words = [sys.executable, "-m", "goodgain", "report", str(output)]
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return (output / "report.html").read_text()
