// One function for each plot: it draws the plot and fills its table.
// The places of a slice's values at N, as the page's data lists them.
const PARTS = {
  mean: 0, low: 1, high: 2, p10: 3, median: 4, p90: 5, worst: 6, best: 7, n: 8, undefined: 9,
};

function atEnd(slice, metric) {
  const values = slice.end[metric];
  if (!values) return null;
  return Object.fromEntries(Object.entries(PARTS).map(([part, place]) => [part, values[place]]));
}

const POPULATIONS = [
  {name: "reached", label: "reached i", tone: "accent", dash: "solid", symbol: "circle"},
  {name: "all", label: "all conversations", tone: "second", dash: "dash", symbol: "diamond"},
];

function drawCurve(figure, slice, name) {
  const metric = data.metrics.iteration[name];
  const traces = [];
  const bands = [];
  const rows = [];
  const format = (value) => amount(value, metric);
  const last = slice.curves.reached ? reachedBy(slice.curves.reached) : 0;
  for (const population of POPULATIONS) {
    const curves = slice.curves[population.name];
    if (!curves?.[name]) continue;
    const points = curves[name].map((values) => values.slice(0, last));
    const x = points[0].map((_, at) => at + 1);
    const counts = points[3] ?? curves.n;  // its own counts if the metric is null for some
    bands.push(...x.map((i, at) => ({x: i, low: points[1][at], high: points[2][at], tone: population.tone})));
    traces.push(...bandedCurve(x.map((i, at) => {
      const [mean, low, high] = points.map((values) => values[at]);
      const cells = [format(mean), interval(low, high, format), number(counts[at], true)];
      rows.push([String(i), population.label, ...cells]);
      return {x: i, y: mean, low, high, hover: `${cells[0]} (${cells[1]}), n = ${cells[2]}`};
    }), population));
  }
  const reached = (slice.curves.reached?.n ?? []).slice(0, last);
  const title = `Mean ${metric.title} by iteration: ${slice.label}`;
  fillTable(figure, title, ["i", "population", "mean", "95 % interval", "n"], rows);
  const top = topOf(traces);
  return draw(figure, `${title}. The numbers are in the table below.`, [...traces, ...cutArrows(bands, "y", [0, top])], {
    xaxis: iterationAxis(reached), yaxis: axis(metric.title, {range: [0, top], ...ticksOf(metric)}),
  });
}

function drawAdded(figure, slice) {
  const curves = slice.curves.reached;
  const counts = curves.n.slice(0, reachedBy(curves));
  const x = counts.map((_, at) => at + 1);
  const [good, unique, copies] = ["GR_i", "UR_i", "Dup_i"].map((name) => curves[name][0].slice(0, counts.length));
  const other = unique.map((value, at) => value - good[at]);
  const kinds = [["new and good", good, "good", ""], ["new, not good", other, "other", ""], ["duplicates", copies, "copies", "/"]];
  const traces = kinds.map(([name, y, tone, shape]) => ({
    type: "bar", x, y, name, hovertemplate: `${name}: %{y:.4~g}<extra></extra>`,
    marker: filled(tone, shape),
  }));
  const title = `What each iteration adds: ${slice.label}`;
  fillTable(
    figure, `${title}. Mean results per conversation that reached i`,
    ["i", ...kinds.map(([name]) => name), "n"],
    x.map((i, at) => [String(i), ...kinds.map(([, y]) => number(y[at])), number(counts[at], true)]),
  );
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    barmode: "stack", bargap: .3, xaxis: iterationAxis(counts), yaxis: axis("results per conversation", {rangemode: "tozero"}),
  });
}

function binLabel([start, width, , single], at, format) {
  if (single) return number(start + at + .5, true);
  return `${format(start + at * width)} to ${format(start + (at + 1) * width)}`;
}

function drawDistribution(figure, slice, name) {
  const metric = data.metrics.end[name];
  const bins = data.bins[name];
  const counts = slice.histograms[name] ?? [];
  const end = atEnd(slice, name);
  const format = (value) => amount(value, metric);
  const labels = counts.map((_, at) => binLabel(bins, at, format));
  const lines = [["mean", end?.mean, "solid"], ["median", end?.median, "dot"]].filter(([, value]) => value !== null && value !== undefined);
  const traces = [
    {
      type: "bar", x: counts.map((_, at) => bins[0] + (at + .5) * bins[1]), y: counts, customdata: labels,
      width: bins && bins[1] * .92, marker: {color: colour("other")}, name: "conversations",
      hovertemplate: "%{customdata}: %{y:,} conversations<extra></extra>", showlegend: false,
    },
    ...lines.map(([label, value, dash]) => ({
      x: [value, value], y: [0, Math.max(1, ...counts)], mode: "lines", name: `${label} ${format(value)}`,
      line: {color: colour("accent"), width: 2, dash}, hoverinfo: "skip",
    })),
  ];
  const title = `Conversations by ${metric.title}: ${slice.label}`;
  fillTable(figure, title, [metric.label, "conversations"], counts.map((count, at) => [labels[at], number(count, true)]));
  const summary = end ? ` Mean ${format(end.mean)}, median ${format(end.median)}, 80 % between ${format(end.p10)} and ${format(end.p90)}; undefined for ${number(end.undefined, true)}.` : "";
  return draw(figure, `${title}.${summary}`, traces, {
    hovermode: "closest", bargap: 0, xaxis: axis(metric.title, {showgrid: false, zeroline: false, ...ticksOf(metric)}),
    yaxis: axis("conversations", {rangemode: "tozero"}),
  });
}

// Intervals may extend beyond the smallest and largest value; the axis ends at these, and begins at 0 or above, as metrics do.
function rangeOf(ends, bins) {
  const known = ends.filter((end) => end && end.mean !== null);
  if (!known.length || !bins) return undefined;
  const [start, width, count] = bins;
  const low = Math.max(start, Math.min(...known.map((end) => end.low ?? end.mean)));
  const high = Math.min(start + width * count, Math.max(...known.map((end) => end.high ?? end.mean)));
  const room = .04 * (high - low) || .5;
  return [Math.max(0, low - room), high + room];
}

function drawSlices(figure, dimension, name) {
  const metric = data.metrics.end[name];
  const shown = dimension.slices.map((at) => data.slices[at]);
  const ends = shown.map((slice) => atEnd(slice, name));
  const longest = narrow.matches ? 16 : 34;
  const labels = shown.map((slice) => slice.values.map((value) => shorter(value, longest)).join(", "));
  const places = shown.map((_, at) => at);
  const everything = atEnd(data.slices[0], name);
  const format = (value) => amount(value, metric);
  const range = rangeOf(ends, data.bins[name]);
  const traces = [{
    x: ends.map((end) => end?.mean ?? null), y: places, mode: "markers", showlegend: false, cliponaxis: false,
    marker: {size: 9, color: colour("accent")},
    error_x: bars(ends.map((end) => [end?.mean ?? 0, end?.low ?? null, end?.high ?? null]), "accent", 1.5, 4),
    customdata: shown.map((slice, at) => [plain(slice.label), format(ends[at]?.mean), interval(ends[at]?.low ?? null, ends[at]?.high ?? null, format), number(ends[at]?.n ?? 0, true)]),
    hovertemplate: "%{customdata[0]}<br>%{customdata[1]} (%{customdata[2]})<br>n = %{customdata[3]}<extra></extra>",
  }, ...cutArrows(ends.map((end, y) => ({y, low: end?.low ?? null, high: end?.high ?? null, tone: "accent"})), "x", range)];
  const title = `Mean ${metric.title} by ${dimension.label}`;
  fillTable(figure, title, [dimension.label, "mean", "95 % interval", "median", "n", "undefined"], shown.map((slice, at) => [
    slice.values.join(", "), format(ends[at]?.mean), interval(ends[at]?.low ?? null, ends[at]?.high ?? null, format),
    format(ends[at]?.median), number(ends[at]?.n ?? 0, true), number(ends[at]?.undefined ?? 0, true),
  ]));
  const line = everything?.mean === null || !everything ? [] : [lineAt(everything.mean)];
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", height: 90 + 27 * shown.length, shapes: line, xaxis: axis(metric.title, {zeroline: false, range, ...ticksOf(metric)}),
    yaxis: rowAxis(labels.map((label, at) => withCount(label, number(shown[at].n, true)))),
  });
}

function drawTypes(figure) {
  const types = data.types;
  const places = types.map((_, at) => at);
  const kinds = [["first occurrences", ([, results, copies]) => results - copies, "other", ""], ["duplicates", ([, , copies]) => copies, "copies", "/"]];
  const traces = kinds.map(([name, count, tone, shape]) => ({
    type: "bar", orientation: "h", y: places, x: types.map(count), name, customdata: types.map(([type, results, copies]) => [plain(type), percentage(copies, results)]),
    hovertemplate: `%{customdata[0]}: %{x:,} ${name} (%{customdata[1]} duplicates)<extra></extra>`,
    marker: filled(tone, shape),
  }));
  fillTable(figure, "Results and duplicates by entity type", ["type", "results", "duplicates", "share"], types.map(([type, results, copies]) => [
    type, number(results, true), number(copies, true), percentage(copies, results),
  ]));
  return draw(figure, "Results and duplicates by entity type. The numbers are in the table below.", traces, {
    hovermode: "closest", barmode: "stack", bargap: .35, height: 100 + 27 * types.length, xaxis: axis("results", {rangemode: "tozero"}),
    yaxis: rowAxis(types.map(([type, results, copies]) => `${plain(shorter(type, 18))} (${percentage(copies, results)})`)),
  });
}
