"""The engines from the command line: `python -m tests.engines flink start`.

`python -m tests.engines flink goodgain run ...` runs Good Gain's command on the cluster.
"""

import argparse
import logging
import sys

from tests.engines.cluster import Cluster
from tests.engines.install import install_airflow
from tests.engines.kafka import Kafka
from tests.engines.processes import EngineError
from tests.engines.settings import load_settings
from tests.engines.spark import SparkCluster

_LOGGER = logging.getLogger("engines")
_CLUSTERS = {"flink": Cluster, "spark": SparkCluster}


def main(arguments: list[str]) -> int:
    """Run the command; return 0, or 1 if it failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description=__doc__)
    parser.add_argument("engine", choices=("flink", "spark", "kafka", "airflow"))
    parser.add_argument("action", choices=("install", "start", "check", "stop", "goodgain"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of goodgain")
    chosen = parser.parse_args(arguments)
    runs_goodgain = chosen.action == "goodgain"
    if runs_goodgain and chosen.engine not in _CLUSTERS:
        parser.error("goodgain runs on flink and spark only")
    if runs_goodgain is not bool(chosen.arguments):
        parser.error("arguments go with goodgain, and with nothing else")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        if runs_goodgain:
            _CLUSTERS[chosen.engine](load_settings()).goodgain(*chosen.arguments)
        else:
            _LOGGER.info("%s", _act(chosen.engine, chosen.action))
    except EngineError as error:
        _LOGGER.error("%s", error)
        return 1
    return 0


def _act(engine: str, action: str) -> str:
    settings = load_settings()
    if engine == "airflow":
        return f"Airflow is in {install_airflow(settings)}"
    services = {**_CLUSTERS, "kafka": Kafka}[engine](settings)
    getattr(services, action)()
    if action == "stop":
        return f"{engine} has ended"
    if action == "install":
        return f"{engine} is installed in {settings.folder}"
    running = "".join(
        f"\n  {daemon.name:16} pid {daemon.pid()!s:8} {daemon.log}" for daemon in services.daemons
    )
    return f"{engine} runs:{running}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
