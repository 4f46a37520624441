"""A pool of Python workers that several TaskManagers share.

Each TaskManager numbers its workers on its own, so that two of them have a worker 1-1 each. Beam's
own pool, `worker_pool_main`, knows a worker by that name alone: a TaskManager that is done with its
worker 1-1 ends the other's too, whose job then fails or waits for ever. Beam's own pool is right
where every TaskManager has one to itself, as in one pod.
"""

import argparse
import logging

from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1.beam_fn_api_pb2 import (
    StopWorkerRequest,
    StopWorkerResponse,
)
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer


class SharedWorkerPool(BeamFnExternalWorkerPoolServicer):
    """Starts workers; each ends by itself when its TaskManager closes the connection to it."""

    def StopWorker(self, request: StopWorkerRequest, context: object) -> StopWorkerResponse:
        """Leave it to the worker: its name does not tell which one is meant."""
        return StopWorkerResponse()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    logging.basicConfig(level=logging.INFO)
    _, server = SharedWorkerPool.start(use_process=True, port=parser.parse_args().port)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
