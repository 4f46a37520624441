"""python examples/evaluate.py TRACES: from traces to tables and a comparison, without Beam.

Editors that support `# %%` can run the cells one by one.
"""

# %% The traces: a file, a pattern or a folder; also a list of dicts or a data frame.
import sys

import goodgain as gg

traces = sys.argv[1] if len(sys.argv) > 1 else "configs/data/sample.avro"

# %% Score them.
run = gg.evaluate(traces, metrics=["ndcg@10", "recall@10"], slices=["arm"])
print(run)

# %% Tables can be converted to data frames.
means = run.means.to_pandas()
at_end = means[means["i"].isna()]
print(at_end[["slice", "metric", "n", "mean", "ci_low", "ci_high"]].head(12).to_string(index=False))

# %% Which conversation repeated itself most, and why were its results duplicates?
worst = max((row for row in run.conversations if row["N"]), key=lambda row: row["SRR"])
print("\n".join(run.explain(worst["conversation_id"]).splitlines()[:12]))

# %% Two runs, here of the same traces with different thresholds for good results.
strict = gg.evaluate(traces, metrics=["ndcg@10"], good_gain_threshold=3)
loose = gg.evaluate(traces, metrics=["ndcg@10"])
print(gg.compare(strict, loose, force=True).summary)
