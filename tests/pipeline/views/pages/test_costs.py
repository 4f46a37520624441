"""Costs in the report, read from its HTML without a browser."""

import pytest

import goodgain as gg
from goodgain.pipeline.views.pages.data.texts import stops_paying
from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.views.pages.outputs import market_records, search, write_outputs
from tests.pipeline.views.pages.test_build import Page

COSTS = {"cost": ("tokens", "usd"), "budget": ("tokens=250",)}


def three(name, market, *costs):
    """Iterations with gains 3, 2 and 0, one for each cost in tokens; the second has no usd."""
    found = ([(1, 3)], [(2, 2)], [(1, 3)])
    return [
        search(
            name,
            i,
            documents,
            {"market": market},
            costs={"tokens": tokens} | ({} if i == 2 else {"usd": tokens / 1e6}),
        )
        for i, (documents, tokens) in enumerate(zip(found, costs, strict=False), 1)
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs") / "out"
    records = [*three("a", "north", 100, 100, 200), *three("b", "south", 300, 100)]
    write_outputs(folder, [*records, *three("c", "south", 100)], scoring=COSTS)
    return Page(build_report(str(folder)).page)


@pytest.mark.slow
class TestSection:
    def test_curves_of_costs_have_their_n(self, page):
        curves = page.data["slices"][0]["curves"]
        mean, low, high, texts = curves["reached"]["cost_i.tokens"]
        assert mean[:3] == [pytest.approx(500 / 3, rel=1e-5), 100, 200]
        assert [n for *_, n in texts] == ["3", "2", "1", "0", "0"]
        assert texts[1][:1] == ["100.0"]
        assert (low[0], high[0]) == (None, None)  # of three conversations there is no band
        assert [n for *_, n in curves["reached"]["cost_i.usd"][3]] == ["3", "0", "1", "0", "0"]
        assert curves["reached"]["n"] == [3, 2, 1, 0, 0]
        assert curves["all"]["cost_at_i.tokens"][0][2] == 300

    def test_gain_per_unit_agrees_with_the_means(self, page):
        """Iteration 1 brings 9 for 500, iteration 2 brings 4 for 200, iteration 3 none for 200."""
        paying = page.data["slices"][0]["paying"]["tokens"]
        assert paying["pay"] == [pytest.approx(9 / 500, rel=1e-5), 4 / 200, 0]
        assert [per_unit for _, _, per_unit, *_ in paying["texts"]] == ["0.0180", "0.0200", "0"]
        assert paying["texts"][0][-2:] == ["3", "3"]
        assert (paying["average"], paying["average_text"]) == (
            pytest.approx(13 / 900, rel=1e-5),
            "0.0144",
        )
        assert paying["sentence"] == (
            "Iteration 3 gains less per unit of tokens than all iterations together, 0.0144."
        )
        assert page.data["slices"][0]["end"]["CG_per_total.tokens"][0] == pytest.approx(
            13 / 900, rel=1e-5
        )

    def test_table_and_menu_name_every_cost(self, page):
        options = [
            element["value"]
            for tag, element in page.elements
            if tag == "option" and "value" in element
        ]
        assert [name for name in options if name in ("tokens", "usd")] == ["tokens", "usd"]
        named = [
            element["data-metric"]
            for tag, element in page.elements
            if element.get("data-part") == "mean"
        ]
        assert [name for name in named if "tokens" in name or "usd" in name] == [
            "cost.tokens", "CG_per.tokens", "CG_per_total.tokens",
            "cost.usd", "CG_per.usd", "CG_per_total.usd",
            "CG@tokens<=250", "GR@tokens<=250",
        ]  # fmt: skip
        # At 250 tokens: a has 3 + 2, b nothing yet, c 3.
        assert page.data["slices"][0]["end"]["CG@tokens<=250"][0] == pytest.approx(8 / 3, rel=1e-5)
        ids = {element["id"] for _, element in page.elements if "id" in element}
        for _, term in page.having(**{"class": "term"}):
            assert term["href"].removeprefix("#").replace("%40", "@").replace("%3C%3D", "<=") in ids

    def test_slices_have_their_own_costs(self, page):
        (dimension,) = page.data["dimensions"]
        north, south = (page.data["slices"][at] for at in dimension["slices"])
        assert north["end"]["cost.tokens"][0] == 400
        assert south["end"]["cost.tokens"][0] == 250


@pytest.mark.slow
def test_without_costs_there_is_no_section(tmp_path):
    write_outputs(tmp_path / "out", market_records())
    page = Page(build_report(str(tmp_path / "out")).page)
    assert "What gain costs" not in page.text
    assert not page.having(id="figure-gained")


@pytest.mark.parametrize(
    ("pay", "average", "sentence"),
    [
        ([2.0, 1.0, 0.5], 1.0, "Iteration 3 gains less per unit of usd than all iterations"),
        ([2.0, 0.9, 0.5], 1.0, "Iterations 2 to 3 gain less per unit of usd than all"),
        ([0.5, 0.9, 1.5], 1.0, "The last iteration still gains at least as much per unit"),
        ([2.0, 0.5, None], 1.0, "The last iteration still gains at least as much per unit"),
        ([None], None, "No usd was reported, or all of it is 0."),
    ],
)
def test_it_is_said_when_searching_stops_paying(pay, average, sentence):
    assert stops_paying(pay, average, "usd").startswith(sentence)


@pytest.mark.slow
def test_without_labels_the_gain_is_unknown(tmp_path):
    calls = [
        {
            "conversation_id": f"c-{at}",
            "iteration": 1,
            "results": [{"id": "a"}, {"id": "b"}],
            "costs": {"tokens": 5 + at},
        }
        for at in range(3)
    ]
    run = gg.evaluate(calls)
    run.report(tmp_path / "report.html")
    (one,) = Page((tmp_path / "report.html").read_bytes()).data["slices"]
    assert one["added"] == [[None, None, 0.0, ["-", "-", "0", "3"]]]
    assert one["paying"]["tokens"]["pay"] == [None]
    assert one["paying"]["tokens"]["sentence"] == "Without labels, the gain is unknown."
