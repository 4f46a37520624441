"""The scores of the shipped sample change only with the scoring version."""

import hashlib
import json

from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from tests.pipeline.runs import SAMPLE, direct_scores

DIGEST = "61a0c348be507d170ca58460a9ce2970"
WHAT_TO_DO = (
    "Scores of the shipped sample differ from those recorded for this SCORING_VERSION. Raise it by "
    "one, so that earlier runs are not compared with new ones, and record the digest {0}. (If only "
    "the sample was regenerated or columns were added, record the digest without raising it.)"
)


def round_value(value):
    """Rounded to nine digits, since the last ones may differ between machines."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def digest_of_the_sample():
    content = hashlib.sha256()
    for identity, score in sorted(direct_scores([SAMPLE]).items()):
        rows = [conversation_row(score.conversation), *map(iteration_row, score.iterations)]
        rounded_rows = [{name: round_value(value) for name, value in row.items()} for row in rows]
        content.update(json.dumps([identity, rounded_rows], sort_keys=True).encode())
    return content.hexdigest()[:32]


def test_scores_of_the_sample_match_the_scoring_version():
    digest = digest_of_the_sample()
    assert (SCORING_VERSION, digest) == (4, DIGEST), WHAT_TO_DO.format(digest)
