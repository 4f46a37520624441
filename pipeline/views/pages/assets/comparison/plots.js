// One function for each plot of a comparison: it draws the plot and fills its table.
const ARROWS = {higher: "↑", lower: "↓", neither: ""};
const POPULATIONS = [
  {name: "reached", label: "reached i", tone: "accent", dash: "solid", symbol: "circle"},
  {name: "all", label: "all", tone: "second", dash: "dash", symbol: "diamond"},
  {name: "everyone", label: "everyone", tone: "second", dash: "dash", symbol: "diamond"},
];
const SHOWN_PAIRS = 50; // in the table, from each end
const INTERVAL = `${data.level} interval`;
const CORRECTED = "interval, corrected"; // the one that decides the verdict

const atEnd = (slice, metric) => partsOf(slice.end[metric], data.parts, data.texts);

// The label of a metric, on several lines if it is long.
function rowLabel({label}) {
  const longest = narrow.matches ? 17 : 34;
  const lines = [""];
  for (const word of label.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= longest || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => plain(shorter(line, longest))).join("<br>");
}

const withInterval = ({texts}) => `${texts.difference} (${texts.interval})`;
const told = ({texts}, ...parts) => parts.map((part) => texts[part]);

const SCALES = {
  relative: {title: "percent of the base's mean", of: (row, value) => (row.base_mean ? 100 * value / Math.abs(row.base_mean) : null)},
  effect: {title: "standard deviations", of: (row, value) => (row.deviation ? value / row.deviation : null)},
};

function scaled(scale, row, value) {
  if (value === null) return null;
  return value === 0 ? 0 : scale.of(row, value);
}

function drawForest(figure, slice, which, scaleName) {
  const names = which === "all" || !data.declared.length ? Object.keys(data.metrics.end) : data.declared;
  const scale = SCALES[scaleName];
  const metrics = names.map((name) => data.metrics.end[name]);
  const rows = names.map((name) => atEnd(slice, name));
  const points = rows.map((row, y) => ({
    y, x: scaled(scale, row, row.difference), low: scaled(scale, row, row.ci_low), high: scaled(scale, row, row.ci_high), kind: row.verdict,
    hover: `${plain(metrics[y].label)}: ${withInterval(row)}<br>${row.texts.relative_difference}, p corrected ${plain(row.texts.p_corrected)}<br>${row.verdict}, n = ${row.texts.n}`,
  }));
  const title = `Differences: ${slice.label}`;
  fillTable(figure, title, ["metric", "unit", "better", "difference", CORRECTED, "relative", "p corrected", "effect size", "n", "verdict"], rows.map((row, at) => [
    metrics[at].label, metrics[at].unit, metrics[at].direction,
    ...told(row, "difference", "interval", "relative_difference", "p_corrected", "effect_size", "n", "verdict"),
  ]));
  const labels = metrics.map((metric) => `${rowLabel(metric)} ${ARROWS[metric.direction]}`);
  const {traces, range} = forest(points);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", height: rowsHeight(labels), shapes: [lineAt(0)], xaxis: axis(scale.title, {zeroline: false, range}),
    yaxis: rowAxis(labels),
  });
}

function drawGsb(figure, slice) {
  const names = (data.declared.length ? data.declared : Object.keys(data.metrics.end)).filter((name) => atEnd(slice, name).good !== null && atEnd(slice, name).verdict !== "not comparable");
  const rows = names.map((name) => atEnd(slice, name));
  const total = (row) => row.good + row.same + row.bad;
  const kinds = [["good", "good", ""], ["same", "other", ""], ["bad", "warning", "/"]];
  const traces = kinds.map(([name, tone, shape]) => ({
    type: "bar", orientation: "h", name, y: rows.map((_, at) => at), x: rows.map((row) => 100 * row[name] / total(row)),
    customdata: rows.map((row, at) => [plain(data.metrics.end[names[at]].label), row.texts[name], row.texts.n]),
    hovertemplate: `%{customdata[0]}: %{customdata[1]} of %{customdata[2]} pairs ${name}<extra></extra>`,
    marker: filled(tone, shape),
  }));
  const title = `Good, same and bad pairs: ${slice.label}`;
  fillTable(figure, title, ["metric", ...kinds.map(([name]) => name), "GSB", INTERVAL], rows.map((row, at) => [
    data.metrics.end[names[at]].label, ...told(row, "good", "same", "bad", "gsb", "gsb_interval"),
  ]));
  const labels = names.map((name) => rowLabel(data.metrics.end[name]));
  const notes = rows.map((row, y) => ({
    xref: "paper", x: 1.01, y, xanchor: "left", showarrow: false, font: {size: 12, color: colour("ink")},
    text: narrow.matches ? row.texts.gsb : `${row.texts.gsb} (${row.texts.gsb_interval})`,
  }));
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", barmode: "stack", bargap: .35, height: rowsHeight(labels), annotations: notes,
    margin: {l: 48, r: narrow.matches ? 70 : 210, t: 12, b: 48}, xaxis: axis("percent of the pairs", {range: [0, 100], zeroline: false}),
    yaxis: rowAxis(labels),
  });
}

// The last i that any conversation reached, or at which any number still changes: those that stop keep what they had.
function lastIteration(curves, name) {
  const numbers = ({difference: of, ci_low, ci_high, n}, at) => [of[at], ci_low[at], ci_high[at], n[at]].join();
  const shows = {reached: ({n}, at) => n[at] > 0};
  const changes = (curve, at) => at === 0 || numbers(curve, at) !== numbers(curve, at - 1);
  return Math.max(...POPULATIONS.flatMap((population) => {
    const curve = curves[population.name]?.[name];
    return curve ? curve.i.findLast((_, at) => (shows[population.name] ?? changes)(curve, at)) ?? 1 : [];
  }));
}

function drawCurve(figure, slice, name) {
  const metric = data.metrics.iteration[name];
  const rows = [];
  const last = lastIteration(slice.curves, name);
  const traces = POPULATIONS.flatMap((population) => {
    const curve = slice.curves[population.name]?.[name];
    if (!curve) return [];
    return bandedCurve(curve.i.filter((i) => i <= last).map((i, at) => {
      const cells = curve.texts[at];
      rows.push([String(i), population.label, ...cells]);
      return {x: i, y: curve.difference[at], low: curve.ci_low[at], high: curve.ci_high[at], hover: `${cells[0]} (${cells[1]}), n = ${cells[2]}, ${cells[3]}`};
    }), population);
  });
  const title = `Difference of ${metric.title} by iteration: ${slice.label}`;
  fillTable(figure, title, ["i", "population", "difference", `${INTERVAL}, not corrected`, "n", "verdict"], rows);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    xaxis: plainIterationAxis({unifiedhovertitle: {text: "iteration %{x:d}"}, range: [.5, last + .5]}),
    yaxis: axis(`difference of ${metric.title}`, {zeroline: true, zerolinecolor: colour("muted")}),
  });
}

function drawSlices(figure, name) {
  const metric = data.metrics.end[name];
  const rows = data.slices.map((slice) => atEnd(slice, name));
  const points = rows.map((row, y) => ({
    y, x: row.difference, low: row.ci_low, high: row.ci_high, kind: row.verdict,
    hover: `${plain(data.slices[y].label)}<br>${withInterval(row)}<br>${row.verdict}, n = ${row.texts.n}`,
  }));
  const title = `Difference of ${metric.title} by slice`;
  fillTable(figure, title, ["slice", "base", "candidate", "difference", CORRECTED, "p corrected", "n", "verdict"], rows.map((row, at) => [
    data.slices[at].label, ...told(row, "base_mean", "candidate_mean", "difference", "interval", "p_corrected", "n", "verdict"),
  ]));
  const longest = narrow.matches ? 16 : 40;
  const labels = data.slices.map(({values}, at) => withCount(shorter(values.join(", "), longest) || "All", rows[at].texts.n));
  const {traces, range} = forest(points);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", height: rowsHeight(labels), shapes: [lineAt(0)], xaxis: axis(`difference of ${metric.title}`, {zeroline: false, range}),
    yaxis: rowAxis(labels),
  });
}

function drawPairs(figure, name) {
  const metric = data.metrics.end[name];
  const pairs = data.pairs[name];
  const sign = {higher: 1, lower: -1, neither: 0}[metric.direction];
  const tone = (value) => (sign * value > 0 ? "good" : sign * value < 0 ? "warning" : value ? "second" : "other");
  const keys = pairs.keys.map(plain);
  const traces = [{
    type: "bar", x: pairs.ranks, y: pairs.difference, marker: {color: pairs.difference.map((value) => colour(tone(value))), line: {width: 0}},
    customdata: keys.map((key, at) => [key, ...pairs.texts[at]]),
    hovertemplate: "%{customdata[0]}<br>%{customdata[2]} to %{customdata[3]} (%{customdata[4]})<br>pair %{customdata[1]}<extra></extra>",
  }];
  const some = pairs.ranks.length < pairs.count ? ` (${pairs.ranks.length} of them, evenly spaced)` : "";
  const title = `Difference of ${metric.title} in ${pairs.texts.at(-1)[0]} pairs, by size${some}`;
  const ends = pairs.ranks.map((_, at) => at).filter((at) => at < SHOWN_PAIRS || at >= pairs.ranks.length - SHOWN_PAIRS);
  const left = pairs.ranks.length - ends.length;
  fillTable(figure, left ? `${title}: the first and last ${SHOWN_PAIRS}` : title, ["pair", "key", "base", "candidate", "difference"], ends.map((at) => [
    pairs.texts[at][0], pairs.keys[at], ...pairs.texts[at].slice(1),
  ]));
  return draw(figure, `${title}. Numbers are in the table below.`, traces, {
    hovermode: "closest", bargap: 0, showlegend: false, xaxis: axis("pairs, the largest difference first", {showgrid: false, zeroline: false}),
    yaxis: axis(`difference of ${metric.title}`, {zeroline: true, zerolinecolor: colour("muted")}),
  });
}
