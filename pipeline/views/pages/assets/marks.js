// Marks that plots share: curves with bands, estimates with intervals, bars and rows.
const VERDICTS = {
  better: {tone: "good", symbol: "circle"}, worse: {tone: "warning", symbol: "diamond"},
  changed: {tone: "second", symbol: "square"}, "not shown": {tone: "muted", symbol: "circle-open"},
  "not tested": {tone: "muted", symbol: "x-thin-open"}, "not comparable": {tone: "second", symbol: "triangle-up-open"},
};

// A curve through points {x, y, low, high, hover}, drawn over the band of their intervals.
function bandedCurve(points, {label, tone, dash, symbol}) {
  const known = points.filter(({low}) => low !== null);
  const across = known.map(({x}) => x);
  return [{
    x: [...across, ...across.toReversed()], y: [...known.map(({high}) => high), ...known.map(({low}) => low).toReversed()],
    fill: "toself", fillcolor: colour(`${tone}-soft`), mode: "none", hoverinfo: "skip", showlegend: false,
  }, {
    x: points.map(({x}) => x), y: points.map(({y}) => y), name: label, mode: "lines+markers",
    line: {color: colour(tone), width: 2, dash}, marker: {size: 6, symbol},
    customdata: points.map(({hover}) => hover), hovertemplate: `${label}: %{customdata}<extra></extra>`,
  }];
}

// How far intervals reach from their means, of [mean, low, high] each, for Plotly's bars; of NaN there is none.
function bars(ends, tone, thickness, width) {
  const reach = (from, to) => ends.map((end) => (end[1] === null ? NaN : end[to] - end[from]));
  return {type: "data", symmetric: false, array: reach(0, 2), arrayminus: reach(1, 0), color: colour(tone), thickness, width};
}

// Points {x, y, low, high, kind, hover} with their intervals along an axis; each kind is one trace, so that the legend lists it.
function estimates(points, along, looks, size, width) {
  return Object.entries(looks).flatMap(([name, {tone, symbol}]) => {
    const chosen = points.filter((point) => point.kind === name && point[along] !== null);
    if (!chosen.length) return [];
    return [{
      type: "scatter", mode: "markers", name, x: chosen.map(({x}) => x), y: chosen.map(({y}) => y),
      marker: {size, symbol, color: colour(tone), line: {width: 2, color: colour(tone)}},
      [`error_${along}`]: bars(chosen.map((point) => [point[along], point.low, point.high]), tone, 1.5, width),
      customdata: chosen.map(({hover}) => hover), hovertemplate: "%{customdata}<extra></extra>",
    }];
  });
}

// Estimates one below the other, on an axis that one wide interval does not stretch: an interval may reach
// three times as far from its estimate as most do, and arrows show where it is cut.
function forest(points) {
  const known = points.filter(({x}) => x !== null);
  const reaches = known.filter(({low}) => low !== null).map(({x, low, high}) => Math.max(x - low, high - x)).toSorted((one, other) => one - other);
  const most = 3 * reaches[Math.floor((reaches.length - 1) / 2)] || Infinity;
  const ends = [0, ...known.flatMap(({x, low, high}) => (low === null ? [x] : [x, Math.max(low, x - most), Math.min(high, x + most)]))];
  const [least, greatest] = [Math.min(...ends), Math.max(...ends)];
  const room = .04 * (greatest - least) || .5;
  const range = [least - room, greatest + room];
  const toned = known.map((point) => ({...point, tone: VERDICTS[point.kind].tone}));
  return {traces: [...estimates(points, "x", VERDICTS, 10, 4), ...cutArrows(toned, "x", range)], range};
}

// The look of stacked bars, some of them hatched for the colour-blind.
function filled(tone, shape) {
  return {color: colour(tone), pattern: {shape, size: 5, solidity: .22, fgcolor: colour("panel"), fillmode: "overlay"}};
}

function lineAt(x) {
  return {type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: {color: colour("muted"), width: 1, dash: "dot"}};
}

// The height of a plot of rows one below the other, whose labels may have several lines.
function rowsHeight(labels) {
  const lines = Math.max(...labels.map((label) => label.split("<br>").length), 1);
  return 110 + labels.length * (lines > 1 ? 8 + 16 * lines : 27);
}

// Rows one below the other; callers make the texts of traces in the labels `plain`.
function rowAxis(labels) {
  return axis("", {
    tickvals: labels.map((_, at) => at), ticktext: labels, range: [labels.length - .5, -.5], zeroline: false, ticklabelstandoff: 4,
    tickfont: {size: 12, color: colour("ink")},
  });
}

// The label of a row: a slice, and how many conversations it has.
const withCount = (label, count) => `${plain(label)} <i>n = ${count}</i>`;
