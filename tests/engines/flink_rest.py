"""A client of Flink's REST interface with the requests that tests need."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from tests.engines.processes import EngineError, wait_until
from tests.engines.settings import Settings


@dataclass(frozen=True)
class FlinkJob:
    """A job as the JobManager lists it."""

    id: str
    name: str
    state: str


@dataclass(frozen=True)
class FlinkRest:
    """A client of the JobManager's REST interface."""

    settings: Settings

    def answers(self) -> bool:
        """Whether the JobManager is up."""
        try:
            self._get("/overview")
        except EngineError:
            return False
        return True

    def task_managers(self) -> tuple[str, ...]:
        """The names of the TaskManagers that the JobManager knows."""
        return tuple(each["id"] for each in self._get("/taskmanagers")["taskmanagers"])

    def jobs(self) -> tuple[FlinkJob, ...]:
        """All jobs since the cluster started."""
        listed = self._get("/jobs/overview")["jobs"]
        return tuple(FlinkJob(each["jid"], each["name"], each["state"]) for each in listed)

    def state(self, job_id: str) -> str:
        """The state of a job: RUNNING, RESTARTING, FINISHED, CANCELED, FAILED, etc."""
        return str(self._get(f"/jobs/{job_id}")["state"])

    def all_tasks_run(self, job_id: str) -> bool:
        """Whether every task of the job runs, not only the job as a whole."""
        vertices = self._get(f"/jobs/{job_id}")["vertices"]
        return bool(vertices) and all(each["status"] == "RUNNING" for each in vertices)

    def finished_steps(self, job_id: str) -> int:
        """The number of finished steps of a batch job."""
        vertices = self._get(f"/jobs/{job_id}")["vertices"]
        return sum(each["status"] == "FINISHED" for each in vertices)

    def task_managers_of(self, job_id: str) -> tuple[str, ...]:
        """The names of the TaskManagers that work for the job."""
        found: set[str] = set()
        for vertex in self._get(f"/jobs/{job_id}")["vertices"]:
            listed = self._get(f"/jobs/{job_id}/vertices/{vertex['id']}/taskmanagers")
            found |= {each["taskmanager-id"] for each in listed["taskmanagers"]}
        return tuple(sorted(found))

    def completed_checkpoints(self, job_id: str) -> int:
        """The number of complete checkpoints of the job."""
        return int(self._get(f"/jobs/{job_id}/checkpoints")["counts"]["completed"])

    def restores(self, job_id: str) -> int:
        """The number of times that the job was restored from a checkpoint."""
        return int(self._get(f"/jobs/{job_id}/checkpoints")["counts"]["restored"])

    def seconds(self, job_id: str) -> float:
        """The duration of the job so far, in seconds."""
        return float(self._get(f"/jobs/{job_id}")["duration"]) / 1000

    def written_bytes(self, job_id: str) -> int:
        """The number of bytes that the job's tasks have sent to later tasks, on any machine."""
        vertices = self._get(f"/jobs/{job_id}")["vertices"]
        return sum(int(each["metrics"]["write-bytes"]) for each in vertices)

    def cancel(self, job_id: str, seconds: float = 300) -> None:
        """Cancel the job and wait until it has ended.

        Raises:
            EngineError: it has not ended within `seconds`.
        """
        self._ask("PATCH", f"/jobs/{job_id}", None)
        ended = {"CANCELED", "FAILED", "FINISHED"}
        wait_until(lambda: self.state(job_id) in ended, seconds, f"the end of job {job_id}")

    def stop_with_savepoint(self, job_id: str, folder: Path, seconds: float = 300) -> Path:
        """Save the job's state in a new folder under `folder`, end the job, and return that folder.

        Raises:
            EngineError: the savepoint failed or took longer than `seconds`.
        """
        request = {"target-directory": folder.as_uri(), "cancel-job": True}
        trigger = self._ask("POST", f"/jobs/{job_id}/savepoints", request)["request-id"]
        address = f"/jobs/{job_id}/savepoints/{trigger}"
        wait_until(
            lambda: self._get(address)["status"]["id"] == "COMPLETED",
            seconds,
            f"a savepoint of job {job_id}",
        )
        operation = self._get(address)["operation"]
        if "location" not in operation:
            raise EngineError(f"job {job_id} could not be saved: {operation['failure-cause']}")
        return Path(unquote(urlparse(operation["location"]).path))

    def _get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        address = f"http://localhost:{self.settings.ports.flink_rest}{path}"
        request = urllib.request.Request(
            address,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read() or b"{}")
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            raise EngineError(f"Flink does not answer {method} {address}: {error}") from error
