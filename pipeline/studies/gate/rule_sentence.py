"""Rules that are written as a sentence, like `CG drop <= 2 %`."""

from __future__ import annotations

import re
from typing import Any, get_args

from goodgain.pipeline.studies.gate.rule_values import Count, Share
from goodgain.transforms.core.metrics.by_name import DECLARED_NAMES
from goodgain.transforms.core.warnings.codes import CODES as WARNING_CODES

_SENTENCE = re.compile(
    r"(?P<subject>[^\s\[]+\[[^\]]+\]|\S+)(?:\s+(?P<change>drop|rise))?"
    r"\s*(?P<sign><=|>=)\s*(?P<bound>\S.*)"
)
_WARNINGS = "warnings"
# Of the codes, `calls_failed` is a metric, too.
_WARNING_WORDS = [[word] for word in (_WARNINGS, *WARNING_CODES) if word not in DECLARED_NAMES]
_HOW_TO_FORBID_WARNINGS = (
    "warnings are not a rule: next to `rules:`, write `warnings: none`, or the codes that the run "
    "must not have, like `warnings: [no_labels, few_labels]`"
)


def parse_sentence(written: Any) -> Any:
    """The options of a rule that is written as a sentence; anything but text as it is.

    Raises:
      ValueError: it is no sentence of this kind.
    """
    if isinstance(written, dict) and _WARNINGS in written:
        raise ValueError(_HOW_TO_FORBID_WARNINGS)
    if not isinstance(written, str):
        return written
    if written.split(":")[0].split()[:1] in _WARNING_WORDS:
        raise ValueError(_HOW_TO_FORBID_WARNINGS)
    match = _SENTENCE.fullmatch(written.strip())
    if match is None or (match["change"] and match["sign"] != "<="):
        raise ValueError(
            f"write a rule like `SRE >= 0.2` or `CG drop <= 2 %`, or with options like "
            f"`metric: SRE`, not {written!r}"
        )
    subject = match["subject"]
    kind = "share" if subject in get_args(Share) else "metric"
    kind = "count" if subject in get_args(Count) else kind
    bound = "at_least" if match["sign"] == ">=" else "at_most"
    if match["change"]:
        bound = f"{match['change']}_at_most"
    return {kind: subject, bound: match["bound"]}
