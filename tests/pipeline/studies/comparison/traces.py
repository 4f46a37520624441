"""Small traces with known gains, and the outputs of runs over them."""

import json

import goodgain as gg
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.manifest_model import RunOptions
from goodgain.pipeline.run.hosts.batch import run
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import RunConfig


def conversation(identity, iterations, turn_count=None, **attributes):
    """Records of a conversation, one call per iteration; every result is a distinct document."""
    return [
        {
            "conversation_id": identity,
            "iteration": number,
            "turn_count": turn_count,
            "attributes": attributes,
            "results": [
                {"ids": {"doc_id": f"{identity}-{number}-{rank}"}, "gain": gain}
                for rank, gain in enumerate(gains)
            ],
        }
        for number, gains in enumerate(iterations, start=1)
    ]


def options_of_run():
    """The options of a run with a threshold of 2."""
    return RunOptions(
        input=(), output="", metrics=(), max_i=1, good_gain_threshold=2, g_max=4, max_rejected=0
    )


def output_of(folder, conversations, **options):
    """The output folder of a run over conversations; options are fields of the configuration.

    Unless a format is given, the run is one of this process, which writes the same rows as one of
    Beam in a sixth of the time.
    """
    path = folder.with_suffix(".jsonl")
    records = [record for records in conversations for record in records]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    if "format" in options:
        run(load_config(RunConfig, {"input": [str(path)], "output": str(folder), **options}), [])
    else:
        config = folder.with_suffix(".yaml")
        config.write_text(json.dumps(options))
        gg.evaluate(str(path), config=str(config)).write_datasets(folder)
    return str(folder)


def values_by_id(folder, metric):
    """A metric of the conversations in the means of a run."""
    return {
        row["conversation_id"]: row[metric]
        for row in read_dataset(folder, "conversations")
        if row["N"] and not row["rejected_records"]
    }


def base_arm(prefix="c", **attributes):
    """Forty conversations of one to four iterations."""
    return [
        conversation(
            f"{prefix}{number:02}",
            [[number % 5, 2, 0] for _ in range(1 + number % 4)],
            market="de" if number % 3 else "fr",
            query_id=f"q{number:02}",
            **attributes,
        )
        for number in range(40)
    ]


def candidate_arm(prefix="c", **attributes):
    """The base, but even ones gain 3 more in their first iteration, and every fifth 2 less."""
    changed = []
    for number, records in enumerate(base_arm(prefix, **attributes)):
        results = records[0]["results"]
        if number % 2 == 0:
            results.append({"ids": {"doc_id": f"more-{number}"}, "gain": 3})
        if number % 5 == 0:
            results[1]["gain"] = 0
        changed.append(records)
    return changed


def known_difference(number):
    """CG of the candidate minus CG of the base, for the conversation with this number."""
    return 3 * (number % 2 == 0) - 2 * (number % 5 == 0)
