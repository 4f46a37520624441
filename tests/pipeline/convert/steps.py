"""Helpers for the tests of `goodgain convert`: run commands, and read what they wrote."""

import json
from importlib.resources import files

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.to_trec import write_trec
from goodgain.pipeline.inputs.local_files import find_local_files
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from tests.conformity import trec_tables

SESSIONS = str(files("goodgain.configs").joinpath("data/trec_session_2013.jsonl.gz"))

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))

RUN = str(trec_tables.DATA / "results.test")

RULES = compile_rules(load_rules(None))


def goodgain(*words):
    assert main([str(word) for word in words]) == 0


def goodgain_run(output, *words):
    """Run `goodgain run`, and return its rows of `conversations` by id."""
    goodgain("run", "--output", output, "--max-rejected", "5", "--allow-unlabelled", *words)
    return {row["conversation_id"]: row for row in read_dataset(str(output), "conversations")}


def records_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def lines_of(path):
    return [line.split() for line in path.read_text().splitlines()]


def doc(name, gain):
    return {"ids": {"doc_id": name}, "gain": gain}


def convert(folder, records):
    """Convert records to a TREC run and qrels; return their lines and the counts."""
    traces, run, qrels = (folder / name for name in ("t.jsonl", "run", "qrels"))
    traces.write_text("".join(json.dumps({"conversation_id": "c"} | r) + "\n" for r in records))
    counts = write_trec(
        find_local_files([str(traces)]), RULES, "doc_id", "tag", str(run), str(qrels)
    )
    return lines_of(run), lines_of(qrels), counts
