"""`goodgain validate`: entity types, and names for which there is no rule."""

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.validation import result_counts
from goodgain.pipeline.studies.validation.result_counts import OTHER_NAMES
from goodgain.pipeline.studies.validation.survey import Survey
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.sketches import Sketcher
from tests.core.direct import shipped_rules
from tests.pipeline.runs import SAMPLE, call


class TestNames:
    def findings(self, results, traces, validate):
        _, report = validate(traces(call(results=results)))
        types = {
            type_["name"]: (type_["rules"], type_["likely"]) for type_ in report["entity_types"]
        }
        names = {
            f"{name['kind']}s.{name['name']}": name["likely"]
            for name in report["names_without_rule"]
        }
        return types, names

    def test_shows_the_rules_that_apply_to_each_type(self, traces, validate):
        written = ["File", "person", "Fiel", "Whiteboard", " ", None]
        types, _ = self.findings([{"entity_type": name} for name in written], traces, validate)
        assert types == {
            "File": ("File", None),
            "person": ("People", None),
            "Fiel": ("default", "File"),
            "Whiteboard": ("default", None),
            "": ("default", None),
        }

    def test_suggests_the_likely_spelling_of_names(self, traces, validate):
        result = {
            "entity_type": "File",
            "ids": {"fileId": "1", "unique_id": "2", "whatever": "3"},
            "fields": {"FileName": "a", "autor": "b", "author": "c", "zzz": "d", "title": "e"},
        }
        _, names = self.findings([result], traces, validate)
        assert names == {
            "ids.fileId": "file_id",
            "ids.whatever": None,
            "fields.FileName": "file_name",
            "fields.autor": "author",
            "fields.zzz": None,
            "fields.title": "title",
        }

    def test_names_only_likely_mistakes_if_the_rules_use_every_field(self, traces, validate):
        _, names = self.findings([{"fields": {"language": "de", "autor": "b"}}], traces, validate)
        assert names == {"fields.autor": "author"}

    def test_applies_custom_rules(self, traces, validate, tmp_path):
        rules = tmp_path / "rules.yaml"
        rules.write_text("types:\n  Board:\n    definitive: [board_id]\n  default: {}\n")
        path = traces(call(results=[{"entity_type": "board", "ids": {"bord_id": "1"}}]))
        _, report = validate(path, "--rules", str(rules))
        assert report["entity_types"][0]["rules"] == "Board"
        assert report["names_without_rule"][0]["likely"] == "board_id"

    def test_reports_all_mistakes_in_the_rules(self, tmp_path, capsys):
        rules = tmp_path / "rules.yaml"
        rules.write_text("types:\n  Board:\n    definitve: [board_id]\nalias: {}\n")
        assert main(["validate", SAMPLE, "--rules", str(rules)]) == 2
        err = capsys.readouterr().err
        assert f"{rules}:3:" in err
        assert f"{rules}:4:" in err

    def test_keeps_a_limited_number_of_names(self):
        survey = Survey(shipped_rules(), 0)
        fields = {f"field {number}": "x" for number in range(3000)}
        sketcher = Sketcher(shipped_rules(), threads=1)
        survey.add(sketcher.of_call(parse_mapping(call(results=[{"fields": fields}]))))
        survey.settle()
        assert len(survey.of_results.fields) <= 1001
        assert survey.of_results.fields[OTHER_NAMES] == 2000

    def test_results_of_more_kinds_than_are_kept_are_all_counted(self, monkeypatch):
        monkeypatch.setattr(result_counts, "_MOST_KINDS", 3)
        survey, sketcher = Survey(shipped_rules(), 0), Sketcher(shipped_rules(), threads=1)
        for number in range(50):
            results = [{"gain": number % 5, "fields": {f"field {number % 7}": "x"}}]
            survey.add(
                sketcher.of_call(parse_mapping(call(record_id=str(number), results=results)))
            )
        survey.settle()
        assert survey.of_results.gains == dict.fromkeys(range(5), 10)
        assert survey.of_results.fields.total() == 50
