"""`goodgain metrics`: what it tells of all metrics, and of those that are named."""

import json

from goodgain.pipeline.__main__ import main


class TestMetrics:
    def test_tables_fit_80_columns(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        assert main(["metrics"]) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80
        for name in ("DRAG_at_i", "iterations_for_all", "ndcg[@k]", "rbp.p", "gauc_weighted"):
            assert name in out
        for name in ("cost_at_i.NAME", "CG_per.NAME", "CG_per_total.NAME", "CG@NAME<=B"):
            assert name in out

    def test_piped_tables_are_not_wrapped(self, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        assert main(["metrics", "iterations_for_all"]) == 0
        out = capsys.readouterr().out
        assert "iterations_for_all_good_results" in out
        assert "the smallest i at which every good result of the turn was retrieved" in out

    def test_json_has_every_declaration(self, capsys):
        assert main(["metrics", "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)
        by_name = {(metric["group"], metric["name"]): metric for metric in listed}
        assert len(by_name) == len(listed)
        rag = next(metric for metric in listed if metric["name"] == "RAG")
        assert rag["unit"] == "gain per result"
        assert rag["direction"] == "higher"
        assert "N = 0" in rag["undefined"]


class TestChosenMetrics:
    def test_arguments_select_metrics(self, capsys):
        assert main(["metrics", "ndcg@10", "--json"]) == 0
        names = [metric["name"] for metric in json.loads(capsys.readouterr().out)]
        assert {"pool_nDCG", "pool_nDCG_at_i", "ndcg[@k]", "ndcg_burges[@k]"} <= set(names)
        assert all("ndcg" in name.lower() for name in names)

    def test_rejects_an_unknown_metric(self, capsys):
        assert main(["metrics", "nddcg"]) == 2
        assert "No metric is called nddcg" in capsys.readouterr().err
