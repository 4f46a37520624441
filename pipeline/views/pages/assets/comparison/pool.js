// The share of the pool that each arm had found by i.
const POOL_ARMS = [
  {label: "base", tone: "accent", dash: "solid", symbol: "circle"},
  {label: "candidate", tone: "second", dash: "dash", symbol: "diamond"},
];
const SHARE = {share: true};

function drawPool(figure) {
  const changes = (one, at, all) => one.arm !== all[at - 1]?.arm || one.mean !== all[at - 1].mean;
  const last = Math.max(...data.pool.filter(changes).map(({i}) => i));
  const shares = data.pool.filter(({i}) => i <= last);
  const rows = [];
  const traces = POOL_ARMS.flatMap((look) => bandedCurve(shares.filter(({arm}) => arm === look.label).map(({i, mean, ci_low, ci_high, texts: cells}) => {
    rows.push([String(i), look.label, ...cells]);
    return {x: i, y: mean, low: ci_low, high: ci_high, hover: `${cells[0]} (${cells[1]}), n = ${cells[2]}`};
  }), look));
  const title = `Share of the pool found by i, population ${shares[0].population}`;
  fillTable(figure, title, ["i", "arm", "share", "95 % interval", "n"], rows);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    xaxis: plainIterationAxis({unifiedhovertitle: {text: "iteration %{x:d}"}}),
    yaxis: axis("share of the good documents", {range: [0, 1.02], ...ticksOf(SHARE)}),
  });
}
