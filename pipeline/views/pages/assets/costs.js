// Gain over cost, and the gain of each iteration per unit of cost: one curve for each series.
// A series has label, tone, dash and symbol. In a run, the series are populations; in a comparison, arms.
const thinBars = (ends, tone) => bars(ends, tone, 1, 3);

// Draws the `curves` of each series, for one population, up to iteration `last`.
function drawGained(figure, where, name, several) {
  const traces = [];
  const rows = [];
  for (const {curves, last, ...look} of several) {
    const cost = curves?.[`cost_at_i.${name}`];
    if (!cost) continue;
    const gain = curves.CG_at_i;
    const places = cost[0].map((_, at) => at).filter((at) => at < last && cost[0][at] !== null && gain[0][at] !== null);
    const cells = places.map((place) => {
      const [[costMean, costInterval, costN], [gainMean, gainInterval, gainN]] = [cost, gain].map((one) => one[3][place]);
      return [String(place + 1), look.label, costMean, costInterval, gainMean, gainInterval, costN, gainN];
    });
    const points = places.map((place, at) => ({x: cost[0][place], y: gain[0][place], low: gain[1][place], high: gain[2][place], hover: cells[at]}));
    const [band, curve] = bandedCurve(points, look);
    traces.push(band, {
      ...curve, error_x: thinBars(places.map((place) => [0, 1, 2].map((part) => cost[part][place])), look.tone),
      hovertemplate: `i = %{customdata[0]}, %{customdata[1]}<br>gain %{customdata[4]} (%{customdata[5]})<br>${name} %{customdata[2]} (%{customdata[3]})<extra></extra>`,
    });
    rows.push(...cells);
  }
  const title = `Mean gain over mean ${name}, by iteration: ${where}`;
  fillTable(figure, title, ["i", "of", name, "95 % interval", "gain", "95 % interval", `n of ${name}`, "n of gain"], rows);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", xaxis: axis(`${name} so far`, {rangemode: "tozero"}),
    yaxis: axis("gain so far (CG@i)", {range: [0, topOf(traces)]}),
  });
}

// Each series has `pay`, the gain of iteration i per unit of its cost, `average`, that of all iterations, and their texts.
function drawPaying(figure, where, name, several) {
  const series = several.filter(({counts}) => counts);
  const last = Math.max(0, ...series.map(({pay}) => pay.length));
  const alone = series.length === 1;
  const traces = series.flatMap(({label, tone, pay, texts, average, average_text: all}) => [{
    type: "bar", x: pay.map((_, at) => at + 1), y: pay, name: label, customdata: texts.map(([, , perUnit]) => perUnit), showlegend: !alone,
    marker: {color: colour(tone)}, hovertemplate: `${label}: %{customdata} per unit of ${name}<extra></extra>`,
  }, {
    x: [.5, last + .5], y: [average, average], mode: "lines", name: `all iterations together: ${all}`, showlegend: alone,
    line: {color: colour(alone ? "accent" : tone), width: 2, dash: "dot"}, hoverinfo: "skip", visible: average !== null,
  }]);
  const title = `Gain of iteration i per unit of ${name}: ${where}`;
  const who = (label) => (alone ? [] : [label]);
  fillTable(figure, title, ["i", ...who("of"), "mean gain", `mean ${name}`, "gain per unit", `n of ${name}`, "n of gain"],
    series.flatMap(({label, texts}) => texts.map((cells, at) => [String(at + 1), ...who(label), ...cells])));
  const told = ({label, sentence}) => (alone ? sentence : `${label}: ${sentence[0].toLowerCase()}${sentence.slice(1)}`);
  const summary = series.map(told).join(" ");
  byId("stops-paying").textContent = summary;
  return draw(figure, `${title}. ${summary}`, traces, {
    bargap: .3, yaxis: axis(`gain per unit of ${name}`, {rangemode: "tozero"}),
    xaxis: alone ? iterationAxis(series[0].counts.slice(0, last)) : plainIterationAxis({range: [.5, last + .5]}),
  });
}

// Whether no other point has at least as much gain for at most the same cost, with one of them strictly better.
function isFront(point, points) {
  return !points.some(({cost, gain}) => cost[0] <= point.cost[0] && gain[0] >= point.gain[0] && (cost[0] < point.cost[0] || gain[0] > point.gain[0]));
}

// A metric of a slice at N: mean, the ends of its interval, and the texts of mean, interval and n.
const pointOf = (end, metric) => {
  const {mean, low, high, texts} = partsOf(end?.[metric], ["mean", "low", "high"], data.mean_texts) ?? {mean: null};
  return [mean, low, high, texts];
};

// Gain and cost are never below 0; the wide interval of a few conversations must not flatten the rest.
function rangeOfPoints(ends) {
  const highest = Math.max(0, ...ends.map(([mean]) => mean));
  const low = Math.max(0, Math.min(highest, ...ends.map((end) => end[1] ?? end[0])));
  const high = Math.min(1.5 * highest, Math.max(highest, ...ends.map((end) => end[2] ?? end[0])));
  const room = .15 * (high - low) || .1 * high || 1;
  return [Math.max(0, low - room), high + room];
}

const shortName = ({label}) => shorter(label, narrow.matches ? 14 : 30);

// The side of each point where its name is near no other mark and overlaps no other name, in a plot of this size in
// pixels; null where there is none.
function sidesOf(points, across, up, [wide, high]) {
  const scaled = (value, [low, top], size) => size * (value - low) / (top - low);
  const places = points.map(({cost, gain}) => [scaled(cost[0], across, wide), scaled(gain[0], up, high)]);
  const around = ([x, y]) => ({left: x - 13, bottom: y - 13, length: 26, height: 26});
  const overlap = (one, other) => one.left < other.left + other.length && other.left < one.left + one.length
    && one.bottom < other.bottom + other.height && other.bottom < one.bottom + one.height;
  const named = [];
  return points.map((point, at) => {
    const [x, y] = places[at];
    const size = {length: 7 * shortName(point).length + 4, height: 17};
    const boxes = [["top right", x + 7, y + 3], ["bottom right", x + 7, y - 18], ["top left", x - 7 - size.length, y + 3], ["bottom left", x - 7 - size.length, y - 18]];
    const taken = [...named, ...places.filter((_, of) => of !== at).map(around)];
    const found = boxes.map(([side, left, bottom]) => ({side, left, bottom, ...size})).find((name) => name.left >= 0
      && name.left + name.length <= wide && name.bottom >= 0 && name.bottom + name.height <= high && !taken.some((other) => overlap(name, other)));
    if (!found) return null;
    named.push(found);
    return found.side;
  });
}

// Names beside their points; or, where they do not all fit, numbers in the points, and a key below the plot.
function namesOf(figure, points, across, up) {
  const plot = figure.querySelector(".plot");
  const sides = sidesOf(points, across, up, [plot.clientWidth - 70, plot.clientHeight - 100]);
  const numbered = sides.includes(null);
  figure.querySelector(".key").textContent = numbered ? points.map(({label}, at) => `${at + 1} ${label}`).join("; ") : "";
  return points.map((point, at) => (numbered
    ? {text: String(at + 1), side: "middle center", size: 20, tone: point.front ? "panel" : "ink", shadow: "none"}
    : {text: plain(shortName(point)), side: sides[at], size: 10, tone: "ink", shadow: Array(3).fill(`0 0 2px ${colour("paper")}`).join()}));
}

// Each point has `cost` and `gain` as from `pointOf`, label, tone and symbol.
function drawFront(figure, title, name, all) {
  const points = all.filter(({cost, gain}) => cost[0] !== null && gain[0] !== null).map((point, _, kept) => ({...point, front: isFront(point, kept)}));
  const front = points.filter((point) => point.front).toSorted((one, other) => one.cost[0] - other.cost[0]);
  const [across, up] = ["cost", "gain"].map((which) => rangeOfPoints(points.map((point) => point[which])));
  const names = namesOf(figure, points, across, up);
  const hoverOf = ({cost, gain}) => [["gain", gain], [name, cost]].map(([of, [,,, {mean, interval, n}]]) => `${of} ${mean} (${interval}), n = ${n}`).join("<br>");
  const traces = [{
    x: front.map(({cost}) => cost[0]), y: front.map(({gain}) => gain[0]), mode: "lines", name: "front", showlegend: points.length > 2,
    line: {color: colour("muted"), width: 1, dash: "dot"}, hoverinfo: "skip",
  }, ...points.map((point, at) => ({
    x: [point.cost[0]], y: [point.gain[0]], mode: "markers", showlegend: false,
    marker: {size: names[at].size, symbol: point.symbol + (point.front ? "" : "-open"), color: colour(point.tone)},
    error_x: thinBars([point.cost], point.tone), error_y: thinBars([point.gain], point.tone),
    hovertemplate: `${plain(point.label)}<br>${hoverOf(point)}<extra></extra>`,
  })), ...[["cost", "x", across], ["gain", "y", up]].flatMap(([which, along, range]) => cutArrows(
    points.map(({cost, gain, tone, [which]: [, low, high]}) => ({x: cost[0], y: gain[0], low, high, tone})), along, range,
  )), {
    x: points.map(({cost}) => cost[0]), y: points.map(({gain}) => gain[0]), mode: "markers+text", showlegend: false, hoverinfo: "skip", cliponaxis: false,
    marker: {size: names.map(({size}) => size), opacity: 0},
    text: names.map(({text}) => text), textposition: names.map(({side}) => side), textfont: {color: names.map(({tone}) => colour(tone)), shadow: names.map(({shadow}) => shadow)},
  }];
  fillTable(figure, title, ["of", name, "95 % interval", "gain", "95 % interval", `n of ${name}`, "n of gain", "on the front"], points.map((point) => [
    point.label, point.cost[3].mean, point.cost[3].interval, point.gain[3].mean, point.gain[3].interval,
    point.cost[3].n, point.gain[3].n, point.front ? "yes" : "no",
  ]));
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", xaxis: axis(name, {range: across}), yaxis: axis("gain (CG)", {range: up}),
  });
}
