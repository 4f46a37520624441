"""A conversation is scored once, or the run fails (SPEC 3)."""

import pytest

from goodgain.pipeline.options.rules import load_rules
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import compile_rules
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.ranking import DEFAULT_RANKING_METRICS, RankingEvaluator
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.score import ScoreFromState

RULES = compile_rules(load_rules(None))
SCORING = Scoring(RULES, RankingEvaluator(DEFAULT_RANKING_METRICS, 2))


class Bag(list):
    """State of one key."""

    add = list.append

    def read(self):
        return list(self)


class Timer:
    def set(self, moment):
        pass


def test_what_comes_after_the_end_does_not_make_a_second_row():
    printer = Fingerprinter(RULES)
    first, late = (
        payload([printer.call_fingerprint(SearchCall("c", at, results=[Result(id=str(at))]))])
        for at in (1, 2)
    )
    scoring, payloads = ScoreFromState(SCORING), Bag()
    scoring.setup()
    scoring.process(("c", first), payloads, Timer())
    (score,) = scoring.close_conversation("c", payloads)
    assert score.conversation.N == 1
    scoring.process(("c", late), payloads, Timer())
    with pytest.raises(GoodGainError, match="part of conversation 'c' after its end"):
        list(scoring.close_conversation("c", payloads))
