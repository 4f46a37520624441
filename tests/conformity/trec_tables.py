"""trec_eval's own expected tables (`tests/data/trec_eval`), and our equivalents of its measures."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "trec_eval"
# table -> (qrels, least relevant label), as passed to trec_eval to generate it
TABLES = {"out.test.aq": ("qrels.test", 1), "out.test.aql": ("qrels.rel_level", 2)}
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
UNJUDGED_CUTOFFS = (5, 10, 20)

SAME = (
    {
        "num_rel_ret": "hits",
        "set_P": "precision",
        "set_recall": "recall",
        "set_F": "f1",
        "Rprec": "r_precision",
        "bpref": "bpref",
        "recip_rank": "mrr",
        "map": "map",
        "ndcg": "ndcg",
        "rbp_resid": "rbp_residual.9",
    }
    | {f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)}
    | {f"P_{k}": f"precision@{k}" for k in CUTOFFS}
    | {f"recall_{k}": f"recall@{k}" for k in CUTOFFS}
    | {f"map_cut_{k}": f"map@{k}" for k in CUTOFFS}
    | {f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTOFFS}
)
COMPLEMENT = {f"unj_{k}": f"judged@{k}" for k in UNJUDGED_CUTOFFS}
GRADED_RBP = {"rbp": "rbp.9"}
SUMMED = ("num_rel_ret",)  # its `all` row is a sum, not a mean

# Prefixes of measures that SPEC 8 does not have.
NOT_OURS = (
    *("11pt_avg", "G", "Rndcg", "Rprec_mult", "binG", "gm_bpref", "gm_map", "infAP"),
    *("iprec_at_recall", "ndcg_rel", "num_nonrel_judged_ret", "num_q", "num_rel", "num_ret"),
    *("relative_P", "relstring", "runid", "set_map", "set_relative_P", "utility"),
)

NOTES = {
    "rbp_resid": "Theirs counts unjudged retrieved results, ours also the tail p^n beyond the "
    "list; with 500 results both print the same.",
    "unj_k": "Theirs is the share of unjudged ranks, which is 1 - judged@k if the list has at "
    "least k results.",
    "rbp": "Theirs is graded: each gain is divided by the greatest in the topic's qrels, for any "
    "level; ours is binary. They agree if all positive gains are relevant and equal.",
}


def expected(table: str) -> dict[str, dict[str, str]]:
    """Topic (or `all`) -> measure -> printed value."""
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (DATA / table).read_text().splitlines():
        measure, topic, value = line.split()
        values[topic][measure] = value
    return dict(values)


def qrels(name: str) -> dict[str, dict[str, int]]:
    """Topic -> document -> label; a negative label means unjudged."""
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (DATA / name).read_text().splitlines():
        topic, _, document, label = line.split()
        labels[topic][document] = int(label)
    return dict(labels)


def ranked_documents(ties_descending: bool = True) -> dict[str, list[str]]:
    """Topic -> documents by decreasing score; ties by id, descending as in trec_eval."""
    scored = defaultdict(list)
    for line in (DATA / "results.test").read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        scored[topic].append((float(score), document))
    ranked = {}
    for topic, results in scored.items():
        by_id = sorted(results, key=lambda result: result[1], reverse=ties_descending)
        ranked[topic] = [d for _, d in sorted(by_id, key=lambda result: -result[0])]
    return ranked


def documents_by_rank() -> dict[str, list[str]]:
    """Topic -> documents by the run's rank column."""
    ranks = defaultdict(list)
    for line in (DATA / "results.test").read_text().splitlines():
        topic, _, document, rank, _, _ = line.split()
        ranks[topic].append((int(rank), document))
    return {topic: [document for _, document in sorted(row)] for topic, row in ranks.items()}


def labels_and_pool(judged: dict[str, int], documents: list[str]) -> tuple[list[int], list[int]]:
    """The labels by rank and the pool of one topic, as our evaluator takes them."""
    labels = [max(judged.get(document, -1), -1) for document in documents]
    return labels, [label for label in judged.values() if label >= 0]
