"""The scores of the shipped sample change only with the scoring version."""

import hashlib
import json

from goodgain.transforms.core.scoring.computed import columns_of
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from tests.pipeline.runs import SAMPLE, direct_scores, plain_scoring

DIGEST = "f17927122fe1248a948dd2d31b9a94b0"
WHAT_TO_DO = (
    "Scores of the shipped sample differ from those recorded for this SCORING_VERSION. Raise it by "
    "one, so that earlier runs are not compared with new ones, and record the digest {0}. (If only "
    "the sample was regenerated or columns were added, record the digest without raising it.)"
)


def rounded(value):
    """Rounded to nine digits, since the last ones may differ between machines."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def digest_of_the_sample():
    names = [metric.name for metric in plain_scoring().ranking.metrics]
    content = hashlib.sha256()
    for identity, score in sorted(direct_scores([SAMPLE]).items()):
        conversation = columns_of(score.conversation)
        ranking = dict(zip(names, conversation.pop("ranking"), strict=True))
        rows = [conversation, ranking, *map(columns_of, score.iterations)]
        rounded_rows = [
            {name: rounded(value) for name, value in row.items() if name != "pool"} for row in rows
        ]
        content.update(json.dumps([identity, rounded_rows], sort_keys=True).encode())
    return content.hexdigest()[:32]


def test_scores_of_the_sample_match_the_scoring_version():
    digest = digest_of_the_sample()
    assert (SCORING_VERSION, digest) == (2, DIGEST), WHAT_TO_DO.format(digest)
