"""Which field of SPEC 2 a name of another system probably means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goodgain.transforms.core.records.field_types import MAPS
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.records.similar_names import find_similar_name, fold_name

CALL_FIELDS = frozenset(SearchCall.__struct_fields__)
RESULT_FIELDS = frozenset(Result.__struct_fields__)
_ID_ENDINGS = ("id", "key")


def _by_synonym(synonyms: Mapping[str, str]) -> dict[str, str]:
    """Our field by each of its synonyms."""
    return {synonym: field for field, written in synonyms.items() for synonym in written.split()}


# What other systems call our fields, in lower case without separators.
_CALL_SYNONYMS = _by_synonym(
    {
        "conversation_id": "session sessionid dialogid chatid threadid conversation convid "
        "queryid questionid topic topicid qid taskid sampleid",
        "iteration": "iter step hop stepnumber stepindex iterationnumber",
        "turn": "turnid turnindex",
        "record_id": "callid",
        "results": "hits documents docs items",
        "timestamp": "time ts eventtime createdat",
        "query": "question searchquery userquery searchterm searchterms q",
        "tool": "toolname searchtool retriever",
        "attributes": "tags labels dimensions",
        "is_final": "final",
        "costs.milliseconds": "milliseconds latency latencyms durationms elapsedms",
        "costs.tokens": "tokens totaltokens tokencount",
        "costs.usd": "usd costusd priceusd",
        **{
            f"attributes.{name}": name
            for name in ("arm", "variant", "experiment", "model", "market", "language", "locale")
        },
    }
)
_RESULT_SYNONYMS = _by_synonym(
    {
        "gain": "relevance relevancelabel relevancegrade rel label grade rating judgment judgement",
        "content": "text body passage chunk pagecontent",
        "snippet": "summary description highlight abstract",
        "title": "heading headline",
        "url": "link uri href weburl",
        "entity_type": "type kind documenttype",
        "score": "similarity relevancescore",
        "fields": "metadata properties",
        "ids.doc_id": "doc document docno",
    }
)


_RANKS = frozenset(("rank", "position", "pos", "resultrank", "rankposition"))


def guess_call_field(name: str) -> str | None:
    """The field of a record that a name probably means; None if none is close."""
    return _likely_field(name, CALL_FIELDS, _CALL_SYNONYMS)


def guess_result_field(name: str) -> str | None:
    """The field of a result that a name probably means; None if none is close."""
    return _likely_field(name, RESULT_FIELDS, _RESULT_SYNONYMS)


def guess_map(columns: Sequence[str]) -> dict[str, str]:
    """What the columns of a table in long form probably mean, as for `--map`: field to column.

    Columns that already have the name of a field, or that mean what an earlier one does, have none.
    """
    meant: dict[str, str] = {}
    known = {name for name in columns if is_field(name) or name == "rank"}
    for name in columns:
        if name not in known:
            field = guess_column(name)
            if field is not None and field not in known:
                meant.setdefault(field, name)
    return meant


def is_field(name: str) -> bool:
    """Whether a name is a field of a record or a result, or an entry of one of their maps."""
    return name in CALL_FIELDS or name in RESULT_FIELDS or name.split(".", 1)[0] in MAPS


def guess_column(name: str) -> str | None:
    """What a column of a table in long form probably means; None if nothing is close."""
    if fold_name(name) in _RANKS:
        return "rank"
    field = guess_result_field(name) or guess_call_field(name)
    if field is None and names_an_id(name):
        return f"ids.{name}"
    return None if field == "results" else field


def names_an_id(name: str) -> bool:
    """Whether a name ends like that of an id."""
    return fold_name(name).endswith(_ID_ENDINGS)


def is_of_result(name: str) -> bool:
    """Whether a name is a field of a result, or probably means one and not one of a record."""
    if name in RESULT_FIELDS or guess_result_field(name):
        return True
    return not is_of_call(name) and names_an_id(name)


def is_of_call(name: str) -> bool:
    """Whether a name is a field of a record, or probably means one."""
    return guess_call_field(name) is not None


def _likely_field(name: str, known: frozenset[str], synonyms: Mapping[str, str]) -> str | None:
    return synonyms.get(fold_name(name)) or find_similar_name(name, known)
