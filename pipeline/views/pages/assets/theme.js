// The look of the plots, in the page's own colours, so that both follow the theme.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 40rem)");

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function axis(title, more = {}) {
  return {
    title: {text: title, standoff: 10, font: {size: 12, color: colour("muted")}},
    gridcolor: colour("grid"), linecolor: colour("rule"), zerolinecolor: colour("rule"),
    tickfont: {size: 11, color: colour("muted")}, automargin: true, fixedrange: true, ...more,
  };
}

// The number of iterations that at least one conversation reached.
const reachedBy = (curves) => curves.n.filter((n) => n > 0).length;

function iterationAxis(counts) {
  const shown = counts.map((_, at) => at + 1);
  const every = Math.ceil(shown.length / (narrow.matches ? 10 : 20));
  const ticks = shown.filter((i) => (i - 1) % every === 0);
  return axis(narrow.matches ? "iteration i, and how many reached it" : "iteration i, and how many conversations reached it", {
    tickvals: ticks, ticktext: ticks.map((i) => `${i}<br>${counts[i - 1] ?? 0}`),
    unifiedhovertitle: {text: "iteration %{x:d}"}, showgrid: false, zeroline: false, range: [0.5, shown.length + 0.5],
  });
}

// For curves over different conversations each, so that no single n fits all.
const plainIterationAxis = (more) => axis("iteration i", {dtick: narrow.matches ? 2 : 1, tick0: 1, showgrid: false, zeroline: false, ...more});

// The wide band of a few conversations must not flatten the curves. No metric is below 0.
function topOf(traces) {
  const means = traces.filter((trace) => !trace.fill).flatMap((trace) => trace.y);
  const bands = traces.filter((trace) => trace.fill).flatMap((trace) => trace.y);
  const highest = Math.max(...means);
  return 1.05 * Math.max(highest, Math.min(Math.max(...bands, highest), 1.5 * highest)) || 1;
}

// An axis of shares has ticks in percent.
const ticksOf = (metric) => (metric.share ? {tickformat: ".0~%"} : {});

// Arrows where an interval extends beyond the edge of the plot. Points are {x, y, low, high, tone}.
function cutArrows(points, along, range) {
  if (!range) return [];
  const inset = .01 * (range[1] - range[0]);
  const edges = {
    x: [["triangle-left", range[0] + inset], ["triangle-right", range[1] - inset]],
    y: [["triangle-down", range[0] + inset], ["triangle-up", range[1] - inset]],
  }[along];
  const isCut = [({low}) => low < range[0], ({high}) => high > range[1]];
  return edges.flatMap(([symbol, edge], at) => {
    const cut = points.filter((point) => point.low !== null && isCut[at](point));
    if (!cut.length) return [];
    return [{
      type: "scatter", mode: "markers", x: cut.map(({x}) => x), y: cut.map(({y}) => y), [along]: cut.map(() => edge),
      hoverinfo: "skip", showlegend: false, cliponaxis: false, marker: {symbol, size: 9, color: cut.map(({tone}) => colour(tone))},
    }];
  });
}

function layout(more) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", height: 360,
    font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("ink")},
    margin: {l: 48, r: 12, t: 12, b: 48}, dragmode: false, hovermode: "x unified",
    hoverlabel: {bgcolor: colour("panel"), bordercolor: colour("muted"), font: {color: colour("ink"), size: 12}},
    legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: {size: 12}, traceorder: "normal"},
    ...more,
  };
}

function draw(figure, description, traces, wanted) {
  const plot = figure.querySelector(".plot");
  plot.setAttribute("aria-label", description);
  const config = {displayModeBar: false, responsive: true, showTips: false};
  const drawn = layout(wanted);
  plot.style.minHeight = `${drawn.height}px`; // Plotly forgets the height when the window is resized
  return Plotly.react(plot, traces, drawn, config).then(() => tellPointed(figure, plot));
}

function shorter(text, longest) {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

// Escapes tags and entities, which Plotly would parse in texts that come from traces.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
