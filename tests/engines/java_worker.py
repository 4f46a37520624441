"""Start a Java worker for a runner, like the start program of Beam's Java container.

Flink calls it for a PROCESS environment with the worker's name and the address of the provision
service, which has all other settings.
"""

import argparse
import os

import grpc
from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1 import (
    beam_provision_api_pb2 as messages,
)
from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1 import (
    beam_provision_api_pb2_grpc as services,
)
from google.protobuf import json_format


def main() -> None:
    """Ask the provision service, and replace this process by the Java worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", required=True)
    parser.add_argument("--id", required=True)
    parser.add_argument("--provision_endpoint", required=True)
    arguments, _ = parser.parse_known_args()
    environment = worker_environment(
        arguments.id, ask_provision_service(arguments.id, arguments.provision_endpoint)
    )
    command = ["java", "-Xmx400m", "-cp", f"{arguments.jars}/*"]
    command.append("org.apache.beam.fn.harness.FnHarness")
    os.execvpe(command[0], command, os.environ | environment)


def ask_provision_service(worker_id: str, address: str) -> messages.ProvisionInfo:
    """The settings that the runner at `address` has for the worker."""
    with grpc.insecure_channel(address) as channel:
        service = services.ProvisionServiceStub(channel)
        answer = service.GetProvisionInfo(
            messages.GetProvisionInfoRequest(), metadata=[("worker_id", worker_id)], timeout=60
        )
    return answer.info


def worker_environment(worker_id: str, info: messages.ProvisionInfo) -> dict[str, str]:
    """The environment variables that FnHarness reads."""
    return {
        "HARNESS_ID": worker_id,
        "PIPELINE_OPTIONS": json_format.MessageToJson(info.pipeline_options),
        "LOGGING_API_SERVICE_DESCRIPTOR": f'url: "{info.logging_endpoint.url}"',
        "CONTROL_API_SERVICE_DESCRIPTOR": f'url: "{info.control_endpoint.url}"',
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }


if __name__ == "__main__":
    main()
