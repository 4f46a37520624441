"""The datasets of a comparison; see `datasets` for those of a run."""

from __future__ import annotations

from goodgain.pipeline.outputs.datasets import MEANS, Column, Dataset

COMPARISON_KIND = "comparison"  # `kind` in the manifest of a comparison


def _number(name: str, doc: str) -> Column:
    return Column(name, "number", doc, nullable=True)


def _whole(name: str, doc: str) -> Column:
    return Column(name, "whole", doc)


COMPARISON = Dataset(
    "comparison",
    "One row for each measure of a comparison; differences are candidate - base.",
    (
        Column("slice", "map", "Attributes that the conversations share; empty = all of them."),
        Column("metric", "text", "Column of conversations (i null) or iterations."),
        Column("i", "whole", "Iteration; null = each conversation's last one.", nullable=True),
        Column("population", "text", "reached, all or everyone, as in means."),
        Column("direction", "text", "Which values are better: higher, lower or neither."),
        Column("own_ideal", "flag", "Whether its ideal is what each run found itself."),
        Column(
            "family",
            "text",
            "primary, declared or further; p values of a family are corrected together, those of "
            "slices separately.",
        ),
        Column("design", "text", "paired (Student) or unpaired (Welch)."),
        _whole("n_base", "Number of values of base; when paired, of pairs."),
        _whole("n_candidate", "Number of values of the candidate; when paired, of pairs."),
        _number("base_mean", "Mean of base."),
        _number("candidate_mean", "Mean of the candidate."),
        _number("base_stddev", "Standard deviation of base (n - 1)."),
        _number("candidate_stddev", "Standard deviation of the candidate (n - 1)."),
        _number("difference", "candidate_mean - base_mean."),
        _number("relative_difference", "difference / |base_mean|."),
        _number("stderr", "Standard error of the difference."),
        Column(
            "confidence",
            "number",
            "Confidence of the intervals of the row; tests use the level 1 - confidence.",
        ),
        _number("ci_low", "Lower end of the interval of the difference."),
        _number("ci_high", "Upper end of the interval of the difference."),
        _number("t", "Student's t."),
        _number("degrees_of_freedom", "Degrees of freedom of t."),
        _number("p_value", "Two-sided p of the t-test, not corrected."),
        _number("p_holm", "p_value, corrected by Holm within the family."),
        _number(
            "p_benjamini_hochberg",
            "p_value, corrected by Benjamini-Hochberg.",
        ),
        _number("verdict_confidence", "Confidence of the interval that decides the verdict."),
        _number(
            "verdict_ci_low",
            "Its lower end; the interval excludes 0 exactly when the corrected p is significant.",
        ),
        _number("verdict_ci_high", "Its upper end."),
        _number("effect_size", "The difference in standard deviations."),
        Column("effect_size_name", "text", "cohen_dz (paired) or hedges_g."),
        _number(
            "minimum_detectable_effect",
            "Smallest true difference that the test detects with 80 % power.",
        ),
        Column(
            "clusters",
            "whole",
            "Number of clusters of the values; null if they count as independent.",
            nullable=True,
        ),
        Column("tolerance", "number", "Differences up to this are neither good nor bad."),
        Column("good", "whole", "Pairs on which the candidate is better.", nullable=True),
        Column("same", "whole", "Pairs that differ by no more than tolerance.", nullable=True),
        Column("bad", "whole", "Pairs on which the candidate is worse.", nullable=True),
        _number("gsb", "(good - bad) / (good + same + bad)."),
        _number("gsb_ci_low", "Lower end of the interval of gsb."),
        _number("gsb_ci_high", "Upper end of the interval of gsb."),
        _number("bootstrap_ci_low", "Lower end of the BCa bootstrap interval; on request."),
        _number("bootstrap_ci_high", "Upper end of the BCa bootstrap interval; on request."),
        Column("bootstrap_resamples", "whole", "Number of bootstrap resamples.", nullable=True),
        _number("wilcoxon_p", "p of Wilcoxon's signed-rank test; on request."),
        _number("wilcoxon_p_holm", "wilcoxon_p, corrected by Holm."),
        _number("wilcoxon_p_benjamini_hochberg", "wilcoxon_p, corrected by Benjamini-Hochberg."),
        _number("rank_biserial", "(ranks upwards - downwards) / all ranks; on request."),
        _number("sign_p", "p of the sign test; on request."),
        _number("sign_p_holm", "sign_p, corrected by Holm."),
        _number("sign_p_benjamini_hochberg", "sign_p, corrected by Benjamini-Hochberg."),
        _whole("only_in_base", "Keys of base that this population of the candidate lacks."),
        _whole("only_in_candidate", "Keys of the candidate that this population of base lacks."),
        _whole("undefined_in_base", "Nulls of base, left out; when paired, of base alone."),
        _whole(
            "undefined_in_candidate",
            "Nulls of the candidate, left out; when paired, of the candidate alone.",
        ),
        _whole("undefined_in_both", "Pairs with nulls in both, left out."),
        _number("worst_base_mean", "base_mean if each null were the metric's worst value."),
        _number("worst_candidate_mean", "The same for the candidate."),
        _number("worst_difference", "worst_candidate_mean - worst_base_mean."),
        Column(
            "verdict",
            "text",
            "better, worse, changed, not shown, not tested or not comparable.",
        ),
        Column("reason", "text", "Why it is not comparable.", nullable=True),
        Column("note", "text", "Why something is null, or a caveat.", nullable=True),
    ),
)

DIFFERENCES = Dataset(
    "differences",
    "One row for each pair and metric of the declared family at N.",
    (
        Column("key", "text", "conversation_id or the attribute that the arms are paired by."),
        Column("metric", "text", "Column of conversations."),
        Column("base_conversation", "text", "The first conversation of the key in base."),
        Column("candidate_conversation", "text", "The first of the key in the candidate."),
        Column("base", "number", "Its value in base; a mean if the key has several conversations."),
        Column("candidate", "number", "Its value in the candidate."),
        Column("difference", "number", "candidate - base."),
    ),
)

ARMS = Dataset(
    "arms",
    "What each arm gained and what it cost, at N and by iteration; if traces have costs.",
    (Column("arm", "text", "base or candidate."), *MEANS.columns),
)

POOL_DOCUMENTS = Dataset(
    "pool_documents",
    "One row for each good document of the pool, and which arm found it; of topics that both "
    "arms have, those on which they differ most come first.",
    (
        Column("topic", "text", "Value of the topic's attribute.", nullable=True),
        Column(
            "conversation_id", "text", "The topic itself, if there is no attribute.", nullable=True
        ),
        Column("number", "whole", "Number of the document in the topic's pool."),
        Column("document", "text", "Its id."),
        Column("label", "whole", "Its label."),
        Column("title", "text", "A title.", nullable=True),
        Column("url", "text", "A URL.", nullable=True),
        Column("found_by", "text", "both, base, candidate or neither."),
    ),
)
