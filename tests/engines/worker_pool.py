"""A pool of Python workers that several TaskManagers share.

Each TaskManager numbers its own workers, so two of them each have a worker 1-1. Beam's own pool,
`worker_pool_main`, identifies a worker only by that name: a TaskManager that stops its worker 1-1
also ends that of the other, whose job then fails or waits forever. Beam's own pool is right if
every TaskManager has its own, as in one pod.
"""

import argparse
import logging

from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1.beam_fn_api_pb2 import (
    StopWorkerRequest,
    StopWorkerResponse,
)
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer


class SharedWorkerPool(BeamFnExternalWorkerPoolServicer):
    """Starts workers, which end when their TaskManager closes its connection to them."""

    def StopWorker(self, request: StopWorkerRequest, context: object) -> StopWorkerResponse:
        """Do nothing: the name does not identify the worker, which ends by itself."""
        return StopWorkerResponse()


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    logging.basicConfig(level=logging.INFO)
    _, server = SharedWorkerPool.start(use_process=True, port=parser.parse_args().port)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
