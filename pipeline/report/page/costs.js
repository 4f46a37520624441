// Gain over cost, and what each iteration still brings for what it costs: one curve for each series.
// A series has label, tone, dash and symbol; a run's are populations, a comparison's are its arms.
const COST_N = 3; // where a curve of a cost tells on how many conversations its mean rests
const END_N = 8; // where the values at N of a slice's data tell theirs
const MOST_NAMED = 12; // points beside which their names have room

// As pipeline/report/costs.py prints them: small amounts with three significant digits.
function costAmount(value) {
  const size = Math.abs(value ?? 0);
  if (!size || size >= .1) return number(value);
  return size < 1e-6 ? value.toExponential(2) : fixed(value, 2 - Math.floor(Math.log10(size)));
}

const thinBars = (ends, tone) => bars(ends, tone, 1, 3);

// Of each series `curves` of one population, drawn as far as `last`.
function drawGained(figure, where, name, several) {
  const traces = [];
  const rows = [];
  for (const {curves, last, ...look} of several) {
    const cost = curves?.[`cost_at_i.${name}`];
    if (!cost) continue;
    const gain = curves.CG_at_i;
    const places = cost[0].map((_, at) => at).filter((at) => at < last && cost[0][at] !== null && gain[0][at] !== null);
    const told = places.map((place) => [
      String(place + 1), look.label, costAmount(cost[0][place]), interval(cost[1][place], cost[2][place], costAmount),
      number(gain[0][place]), interval(gain[1][place], gain[2][place]), number(cost[COST_N][place], true), number(curves.n[place], true),
    ]);
    const points = places.map((place, at) => ({x: cost[0][place], y: gain[0][place], low: gain[1][place], high: gain[2][place], told: told[at]}));
    const [band, curve] = bandedCurve(points, look);
    traces.push(band, {
      ...curve, error_x: thinBars(places.map((place) => [0, 1, 2].map((part) => cost[part][place])), look.tone),
      hovertemplate: `i = %{customdata[0]}, %{customdata[1]}<br>gain %{customdata[4]} (%{customdata[5]})<br>${name} %{customdata[2]} (%{customdata[3]})<extra></extra>`,
    });
    rows.push(...told);
  }
  const title = `Mean gain over mean ${name}, by iteration: ${where}`;
  fillTable(figure, title, ["i", "of", name, "95 % interval", "gain", "95 % interval", `n of ${name}`, "n of gain"], rows);
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", xaxis: axis(`${name} so far`, {rangemode: "tozero"}),
    yaxis: axis("gain so far (CG@i)", {range: [0, topOf(traces)]}),
  });
}

// By i - 1 the gain of iteration i for each unit of what it cost; null where that is unknown or 0.
function payOf(curves, name) {
  const costs = curves[`cost_i.${name}`]?.[0] ?? [];
  return costs.slice(0, reachedBy(curves)).map((cost, at) => (cost ? curves.G_i[0][at] / cost : null));
}

// Of each series `reached`, its curves of conversations that reached i, and `average`, all gain for all cost.
function drawPaying(figure, where, name, several) {
  const series = several.filter(({reached}) => reached).map((one) => ({...one, pay: payOf(one.reached, name)}));
  const last = Math.max(0, ...series.map(({pay}) => pay.length));
  const alone = series.length === 1;
  const traces = series.flatMap(({label, tone, pay, average}) => [{
    type: "bar", x: pay.map((_, at) => at + 1), y: pay, name: label, customdata: pay.map(costAmount), showlegend: !alone,
    marker: {color: colour(tone)}, hovertemplate: `${label}: %{customdata} for a unit of ${name}<extra></extra>`,
  }, {
    x: [.5, last + .5], y: [average, average], mode: "lines", name: `all iterations together: ${costAmount(average)}`, showlegend: alone,
    line: {color: colour(alone ? "accent" : tone), width: 2, dash: "dot"}, hoverinfo: "skip", visible: average !== null,
  }]);
  const title = `Gain of iteration i for a unit of ${name}: ${where}`;
  const who = (label) => (alone ? [] : [label]);
  fillTable(figure, title, ["i", ...who("of"), "mean gain", `mean ${name}`, "gain for a unit", `n of ${name}`, "n of gain"], series.flatMap(({label, reached, pay}) => pay.map((value, at) => [
    String(at + 1), ...who(label), number(reached.G_i[0][at]), costAmount(reached[`cost_i.${name}`][0][at]), costAmount(value),
    number(reached[`cost_i.${name}`][COST_N][at], true), number(reached.n[at], true),
  ])));
  const sentences = series.map(({label, pay, average}) => [label, stopsPaying(pay, average, name)]);
  const told = sentences.map(([label, sentence]) => (alone ? sentence : `${label}: ${sentence[0].toLowerCase()}${sentence.slice(1)}`)).join(" ");
  byId("stops-paying").textContent = told;
  const counts = alone ? series[0].reached.n.slice(0, last) : null;
  return draw(figure, `${title}. ${told}`, traces, {
    bargap: .3, yaxis: axis(`gain for a unit of ${name}`, {rangemode: "tozero"}),
    xaxis: counts ? iterationAxis(counts) : plainIterationAxis({range: [.5, last + .5]}),
  });
}

// The iterations at the end that bring less for a unit than all of them together do.
function stopsPaying(pay, average, name) {
  if (average === null) return `Nothing is known to be spent in ${name}.`;
  const below = pay.map((value) => value !== null && value < average);
  const first = below.lastIndexOf(false) + 2;
  if (first > pay.length) return `The last iteration still brings as much for a unit of ${name} as all of them together, ${costAmount(average)}.`;
  const which = first === pay.length ? `Iteration ${first} brings` : `Iterations ${first} to ${pay.length} bring`;
  return `${which} less for a unit of ${name} than all of them together, ${costAmount(average)}.`;
}

// Whether no other point has as much gain for no more cost, and one of the two better.
function isFront(point, points) {
  return !points.some(({cost, gain}) => cost[0] <= point.cost[0] && gain[0] >= point.gain[0] && (cost[0] < point.cost[0] || gain[0] > point.gain[0]));
}

// What a slice's data tell of a metric at N: mean, interval and n.
const pointOf = (end, metric) => (end?.[metric] ? [...end[metric].slice(0, 3), end[metric][END_N]] : [null]);

// Neither gain nor cost is below 0, and an interval of very few must not flatten everything else.
function rangeOfPoints(ends) {
  const highest = Math.max(0, ...ends.map(([mean]) => mean));
  const low = Math.max(0, Math.min(highest, ...ends.map((end) => end[1] ?? end[0])));
  const high = Math.min(1.5 * highest, Math.max(highest, ...ends.map((end) => end[2] ?? end[0])));
  const room = .15 * (high - low) || .1 * high || 1;
  return [Math.max(0, low - room), high + room];
}

// Of each point `cost` and `gain` as [mean, low, high, n], label, tone and symbol.
function drawFront(figure, title, name, all) {
  const points = all.filter(({cost, gain}) => cost[0] !== null && gain[0] !== null).map((point, _, kept) => ({...point, front: isFront(point, kept)}));
  const front = points.filter((point) => point.front).toSorted((one, other) => one.cost[0] - other.cost[0]);
  const [across, up] = ["cost", "gain"].map((which) => rangeOfPoints(points.map((point) => point[which])));
  const side = ({cost}) => (cost[0] < (across[0] + across[1]) / 2 ? "top right" : "top left"); // away from the edge
  const told = ({cost, gain}) => `gain ${number(gain[0])} (${interval(gain[1], gain[2])})<br>${name} ${costAmount(cost[0])} (${interval(cost[1], cost[2], costAmount)})`;
  const traces = [{
    x: front.map(({cost}) => cost[0]), y: front.map(({gain}) => gain[0]), mode: "lines", name: "front", showlegend: points.length > 2,
    line: {color: colour("muted"), width: 1, dash: "dot"}, hoverinfo: "skip",
  }, ...points.map((point) => ({
    x: [point.cost[0]], y: [point.gain[0]], mode: points.length > MOST_NAMED ? "markers" : "markers+text", showlegend: false,
    text: [plain(shorter(point.label, narrow.matches ? 14 : 30))], textposition: side(point), textfont: {color: colour("ink")},
    marker: {size: 10, symbol: point.symbol + (point.front ? "" : "-open"), color: colour(point.tone)},
    error_x: thinBars([point.cost], point.tone), error_y: thinBars([point.gain], point.tone),
    hovertemplate: `${plain(point.label)}<br>${told(point)}<extra></extra>`,
  }))];
  fillTable(figure, title, ["of", name, "95 % interval", "gain", "95 % interval", `n of ${name}`, "n of gain", "on the front"], points.map((point) => [
    point.label, costAmount(point.cost[0]), interval(point.cost[1], point.cost[2], costAmount), number(point.gain[0]),
    interval(point.gain[1], point.gain[2]), number(point.cost[3], true), number(point.gain[3], true), point.front ? "yes" : "no",
  ]));
  return draw(figure, `${title}. The numbers are in the table below.`, traces, {
    hovermode: "closest", xaxis: axis(name, {range: across}), yaxis: axis("gain (CG)", {range: up}),
  });
}
