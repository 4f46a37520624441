// One function for each plot: it draws the plot and fills its table.
const PARTS = ["mean", "low", "high", "median"]; // the numbers of a slice at N, as the data lists them

const atEnd = (slice, metric) => partsOf(slice.end[metric], PARTS, data.texts);

const POPULATIONS = [
  {name: "reached", label: "reached i", tone: "accent", dash: "solid", symbol: "circle"},
  {name: "all", label: "all conversations", tone: "second", dash: "dash", symbol: "diamond"},
];

function drawCurve(figure, slice, name) {
  const metric = data.metrics.iteration[name];
  const traces = [];
  const bands = [];
  const rows = [];
  const last = slice.curves.reached ? reachedBy(slice.curves.reached) : 0;
  for (const population of POPULATIONS) {
    const curves = slice.curves[population.name];
    if (!curves?.[name]) continue;
    const points = curves[name].map((values) => values.slice(0, last));
    const x = points[0].map((_, at) => at + 1);
    bands.push(...x.map((i, at) => ({x: i, low: points[1][at], high: points[2][at], tone: population.tone})));
    traces.push(...bandedCurve(x.map((i, at) => {
      const [mean, low, high, cells] = points.map((values) => values[at]);
      rows.push([String(i), population.label, ...cells]);
      return {x: i, y: mean, low, high, hover: `${cells[0]} (${cells[1]}), n = ${cells[2]}`};
    }), population));
  }
  const reached = (slice.curves.reached?.counts ?? []).slice(0, last);
  const title = `Mean ${metric.title} by iteration: ${slice.label}`;
  fillTable(figure, title, ["i", "population", "mean", "95 % interval", "n"], rows);
  const top = topOf(traces);
  return draw(figure, `${title}. The numbers are in the table below.`, [...traces, ...cutArrows(bands, "y", [0, top])], {
    xaxis: iterationAxis(reached), yaxis: axis(metric.title, {range: [0, top], ...ticksOf(metric)}),
  });
}

function drawAdded(figure, slice) {
  const texts = slice.added.map((parts) => parts.at(-1));
  const counts = texts.map((cells) => cells.at(-1));
  const x = counts.map((_, at) => at + 1);
  const kinds = [["new and good", "good", ""], ["new, not good", "other", ""], ["duplicates", "copies", "/"]];
  const traces = kinds.map(([name, tone, shape], place) => ({
    type: "bar", x, y: slice.added.map((parts) => parts[place]), name,
    customdata: texts.map((cells) => cells[place]), hovertemplate: `${name}: %{customdata}<extra></extra>`,
    marker: filled(tone, shape),
  }));
  const title = `What each iteration adds: ${slice.label}`;
  fillTable(
    figure, `${title}. Mean results per conversation that reached i`,
    ["i", ...kinds.map(([name]) => name), "n"],
    x.map((i, at) => [String(i), ...texts[at]]),
  );
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    barmode: "stack", bargap: .3, xaxis: iterationAxis(counts), yaxis: axis("results per conversation", {rangemode: "tozero"}),
  });
}

function drawDistribution(figure, slice, name) {
  const metric = data.metrics.end[name];
  const bins = data.bins[name];
  const [counts, countTexts] = slice.histograms[name] ?? [[], []];
  const end = atEnd(slice, name);
  const labels = bins?.at(-1) ?? [];
  const lines = [["mean", end?.mean, end?.texts.mean, "solid"], ["median", end?.median, end?.texts.p50, "dot"]].filter(([, value]) => value !== null && value !== undefined);
  const traces = [
    {
      type: "bar", x: counts.map((_, at) => bins[0] + (at + .5) * bins[1]), y: counts, customdata: labels.map((label, at) => [label, countTexts[at], counts[at] === 1 ? "conversation" : "conversations"]),
      width: bins && bins[1] * .92, marker: {color: colour("other")}, name: "conversations",
      hovertemplate: "%{customdata[0]}: %{customdata[1]} %{customdata[2]}<extra></extra>", showlegend: false,
    },
    ...lines.map(([label, value, text, dash]) => ({
      x: [value, value], y: [0, Math.max(1, ...counts)], mode: "lines", name: `${label} ${text}`,
      line: {color: colour("accent"), width: 2, dash}, hoverinfo: "skip",
    })),
  ];
  const title = `Conversations by ${metric.title}: ${slice.label}`;
  fillTable(figure, title, [metric.label, "conversations"], countTexts.map((count, at) => [labels[at], count]));
  const texts = end?.texts;
  const summary = end ? ` Mean ${texts.mean}, median ${texts.p50}, 80 % between ${texts.p10} and ${texts.p90}; undefined for ${texts.undefined}.` : "";
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
  const told = (at, part) => ends[at]?.texts[part] ?? NONE;
  const range = rangeOf(ends, data.bins[name]);
  const traces = [{
    x: ends.map((end) => end?.mean ?? null), y: places, mode: "markers", showlegend: false, cliponaxis: false,
    marker: {size: 9, color: colour("accent")},
    error_x: bars(ends.map((end) => [end?.mean ?? 0, end?.low ?? null, end?.high ?? null]), "accent", 1.5, 4),
    customdata: shown.map((slice, at) => [plain(slice.label), told(at, "mean"), told(at, "interval"), told(at, "n")]),
    hovertemplate: "%{customdata[0]}<br>%{customdata[1]} (%{customdata[2]})<br>n = %{customdata[3]}<extra></extra>",
  }, ...cutArrows(ends.map((end, y) => ({y, low: end?.low ?? null, high: end?.high ?? null, tone: "accent"})), "x", range)];
  const title = `Mean ${metric.title} by ${dimension.label}`;
  fillTable(figure, title, [dimension.label, "mean", "95 % interval", "median", "n", "undefined"], shown.map((slice, at) => [
    slice.values.join(", "), ...["mean", "interval", "p50", "n", "undefined"].map((part) => told(at, part)),
  ]));
  const line = everything?.mean === null || !everything ? [] : [lineAt(everything.mean)];
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", height: 90 + 27 * shown.length, shapes: line, xaxis: axis(metric.title, {zeroline: false, range, ...ticksOf(metric)}),
    yaxis: rowAxis(labels.map((label, at) => withCount(label, shown[at].n))),
  });
}

function drawTypes(figure) {
  const types = data.types;
  const places = types.map((_, at) => at);
  const kinds = [["first occurrences", ([, results, copies]) => results - copies, 3, "other", ""], ["duplicates", ([, , copies]) => copies, 1, "copies", "/"]];
  const traces = kinds.map(([name, count, place, tone, shape]) => ({
    type: "bar", orientation: "h", y: places, x: types.map(count), name, customdata: types.map(([type, , , texts]) => [plain(type), texts[place], texts[2]]),
    hovertemplate: `%{customdata[0]}: %{customdata[1]} ${name} (%{customdata[2]} duplicates)<extra></extra>`,
    marker: filled(tone, shape),
  }));
  fillTable(figure, "Results and duplicates by entity type", ["type", "results", "duplicates", "share"], types.map(([type, , , texts]) => [type, ...texts.slice(0, 3)]));
  return draw(figure, "Results and duplicates by entity type. The numbers are in the table below.", traces, {
    hovermode: "closest", barmode: "stack", bargap: .35, height: 100 + 27 * types.length, xaxis: axis("results", {rangemode: "tozero"}),
    yaxis: rowAxis(types.map(([type, , , [, , share]]) => `${plain(shorter(type, 18))} (${share})`)),
  });
}
