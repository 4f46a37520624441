// The share of the pool that each arm had found by i.
const POOL_ARMS = [
  {name: "base", tone: "accent", dash: "solid", symbol: "circle"},
  {name: "candidate", tone: "second", dash: "dash", symbol: "diamond"},
];
const SHARE = {share: true};
const percent = (value) => amount(value, SHARE);

function drawPool(figure) {
  const {shares} = data.pool;
  const rows = [];
  const traces = POOL_ARMS.flatMap(({name, tone, dash, symbol}) => {
    const points = shares.filter(({arm}) => arm === name);
    points.forEach((point) => rows.push([String(point.i), name, percent(point.mean), interval(point.ci_low, point.ci_high, percent), number(point.n, true)]));
    const known = points.filter(({ci_low}) => ci_low !== null);
    const across = known.map(({i}) => i);
    return [{
      x: [...across, ...across.toReversed()], mode: "lines", hoverinfo: "skip", showlegend: false,
      y: [...known.map((point) => point.ci_high), ...known.toReversed().map((point) => point.ci_low)],
      fill: "toself", fillcolor: colour(`${tone}-soft`), line: {width: 0},
    }, {
      x: points.map(({i}) => i), y: points.map(({mean}) => mean), name, mode: "lines+markers",
      line: {color: colour(tone), width: 2, dash}, marker: {size: 6, symbol},
      customdata: points.map((point) => `${percent(point.mean)} (${interval(point.ci_low, point.ci_high, percent)}), n = ${number(point.n, true)}`),
      hovertemplate: `${name}: %{customdata}<extra></extra>`,
    }];
  });
  const title = `Share of the pool found by i, population ${shares[0].population}`;
  fillTable(figure, title, ["i", "arm", "share", "95 % interval", "n"], rows);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    xaxis: axis("iteration i", {dtick: narrow.matches ? 2 : 1, tick0: 1, showgrid: false, zeroline: false, unifiedhovertitle: {text: "iteration %{x:d}"}}),
    yaxis: axis("share of the good documents", {range: [0, 1.02], ...ticksOf(SHARE)}),
  });
}
