"""Calls and rejected records of a Kafka topic: `... .kafka_traces --output=FOLDER ...`."""

import argparse

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.sources.kafka import ReadKafkaTraces
from tests.core.direct import shipped_rules
from tests.engines.programs.record_files import WriteCalls, WriteRejected


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("output", "brokers", "topic", "java_expansion"):
        parser.add_argument(f"--{name}", required=True)
    arguments, options = parser.parse_known_args()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        traces = pipeline | ReadKafkaTraces(
            arguments.brokers,
            arguments.topic.split(","),
            Packing(shipped_rules()),
            expansion_service=arguments.java_expansion,
        )
        _ = traces.payloads | "Calls" >> beam.ParDo(WriteCalls(arguments.output))
        _ = traces.rejected | "Rejected" >> beam.ParDo(WriteRejected(arguments.output))


if __name__ == "__main__":
    main()
