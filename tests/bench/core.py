"""Benchmarks of the core: a huge conversation, shuffled bytes, and the cost of ranking metrics."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median

import fastavro

from goodgain.pipeline.run.engines.runners import look_for_cycles_less_often
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import DEFAULT_RANKING_METRICS, parse_ranking_metrics
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.fold import fold_turn
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.ranked_lists import pool_of_judged, turn_list
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring
from tests.bench.processes import TURNS, in_turns
from tests.bench.rows import Row

RULES = compile_rules(read_rules(read_shipped_rules()))
MOST_RECORDS = 5_000
CUTOFFS = (5, 10, 20)
FEWEST, *MORE = (10_000, 20_000, 50_000, 100_000)  # results of one conversation


def core_rows(trace: Path, run_seconds: float) -> Iterator[Row]:
    """All rows about the core.

    Args:
      trace: an Avro sample without bad records.
      run_seconds: CPU seconds per result of a run over a similar sample.
    """
    with trace.open("rb") as file:
        records = islice(fastavro.reader(file), MOST_RECORDS)
        calls = [parse_mapping(record) for record in records]
    yield from _shuffle(calls)
    share = ranking_seconds(calls) / run_seconds
    name = f"default ranking metrics at {len(CUTOFFS)} cutoffs / run"
    yield Row(name, share, "ratio", "below 0.15")
    yield from _one_conversation()


def _seconds(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


def _shuffle(calls: list[SearchCall]) -> list[Row]:
    packer = Packer(Packing(RULES))
    size = 0
    for call in calls:
        size += sum(len(packed.payload) for packed in packer.add(call, 0))
    size += sum(len(packed.payload) for packed in packer.rest())
    results = sum(len(call.results) for call in calls)
    return [Row("bytes shuffled", size / results, "bytes a result", "108 or less")]


def _one_conversation() -> list[Row]:
    scoring = Scoring(RULES)
    look_for_cycles_less_often()  # as in a run
    measures = {
        results: partial(_seconds, partial(score_conversation, "c", _prints(results), 0, scoring))
        for results in (FEWEST, *MORE)
    }
    turns = in_turns(measures)
    rows = []
    for results in MORE:
        ratios = [turn[results] / results / (turn[FEWEST] / FEWEST) for turn in turns]
        name = f"one conversation of {results:,} results: CPU a result / that of {FEWEST:,}"
        rows.append(Row(name, median(ratios), "ratio", "1.1 or less"))
    return rows


def _prints(results: int) -> list[CallFingerprint]:
    """Calls with 20 results drawn from 0.7 times as many documents as there are results."""
    random = Random(results)
    fingerprinter = Fingerprinter(RULES)
    documents = int(results * 0.7)
    calls = []
    for iteration in range(1, results // 20 + 1):
        found = [random.randrange(documents) for _ in range(20)]
        calls.append(
            SearchCall("c", iteration, call=0, results=[_result(number) for number in found])
        )
    return [fingerprinter.call_fingerprint(call) for call in calls]


def _result(number: int) -> Result:
    return Result(
        entity_type="File",
        ids={"file_id": f"file-{number}", "site_id": "site"},
        url=f"https://files.example/{number}.docx",
        title=f"Title of document {number}",
        snippet=f"Document {number} " * 8,
        fields={"author": f"Author {number % 50}"},
        gain=number % 5,
    )


def ranking_seconds(calls: list[SearchCall]) -> float:
    """CPU seconds per result for the default metrics, those with a cutoff at each of CUTOFFS."""
    names = sorted(
        {
            f"{metric.family}@{k}" if metric.k else metric.name
            for metric in DEFAULT_RANKING_METRICS
            for k in CUTOFFS
        }
    )
    evaluator = RankingEvaluator(parse_ranking_metrics(names), 2)
    fingerprinter = Fingerprinter(RULES)
    by_conversation: dict[str, list[CallFingerprint]] = {}
    for call in calls:
        fingerprints = by_conversation.setdefault(call.conversation_id, [])
        fingerprints.append(fingerprinter.call_fingerprint(call))
    turns = [fold_turn(fingerprints, RULES, 2) for fingerprints in by_conversation.values()]
    lists = [(turn_list(turn, hold_slot=False), pool_of_judged(turn)) for turn in turns]
    seconds = [
        _seconds(
            lambda: [evaluator.evaluate(list_.labels, pool, list_.scores) for list_, pool in lists]
        )
        for _ in range(TURNS)
    ]
    return median(seconds) / sum(len(turn.results) for turn in turns)
