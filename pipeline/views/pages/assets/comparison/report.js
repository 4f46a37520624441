// The reader's choices on a comparison's page, and the plots and numbers that follow them.
const currentSlice = () => data.slices[Number(chosen("slice") ?? 0)];

const DRAWINGS = {
  forest: (figure) => drawForest(figure, currentSlice(), chosen("which"), chosen("scale")),
  gsb: (figure) => drawGsb(figure, currentSlice()),
  curve: (figure) => drawCurve(figure, currentSlice(), chosen("curve-metric")),
  gained: (figure) => drawGained(figure, currentSlice().label, chosen("cost"), armsOf()),
  front: (figure) => drawFront(figure, `Gain and ${chosen("cost")}: ${currentSlice().label}`, chosen("cost"), armsOf()),
  paying: (figure) => drawPaying(figure, currentSlice().label, chosen("cost"), armsOf()),
  slices: (figure) => drawSlices(figure, chosen("slices-metric")),
  pool: drawPool,
  pairs: (figure) => drawPairs(figure, chosen("pairs-metric")),
};

const ARMS = [
  {arm: "base", label: "Base", tone: "second", dash: "dash", symbol: "diamond"},
  {arm: "candidate", label: "Candidate", tone: "accent", dash: "solid", symbol: "circle"},
];

// The data of both arms for the plots of costs; empty for a slice that the page does not show.
function armsOf() {
  const arms = data.arms[Number(chosen("slice") ?? 0)] ?? {};
  const name = chosen("cost");
  return ARMS.filter(({arm}) => arms[arm]).map((one) => {
    const {curves, end} = arms[one.arm];
    const reached = curves.reached;
    return {
      ...one, reached, curves: curves.everyone ?? curves.all, last: reachedBy(reached),
      average: end[`CG_per_total.${name}`]?.[0] ?? null, cost: pointOf(end, `cost.${name}`), gain: pointOf(end, "CG"),
    };
  });
}

const TEXTS = {
  interval: (row, metric) => interval(row.ci_low, row.ci_high, (end) => change(end, metric)),
  base_mean: (row, metric) => amount(row.base_mean, metric),
  candidate_mean: (row, metric) => amount(row.candidate_mean, metric),
  n: countOf,
  counts: (row) => (row.good === null ? NONE : [row.good, row.same, row.bad].map((count) => number(count, true)).join(" / ")),
  difference: (row, metric) => change(row.difference, metric),
  size: (row, metric) => change(row.difference, metric).replace(" points", ""), // its unit follows
  minimum_detectable_effect: ({minimum_detectable_effect: effect}, metric) =>
    metric.share ? change(effect, metric).replace("+", "") : number(effect),
  effect_size: (row) => difference(row.effect_size),
  gsb: (row) => difference(row.gsb),
  relative_difference: (row) => relative(row.relative_difference),
  p_value: (row) => probability(row.p_value),
  p_corrected: (row) => probability(row.p_corrected),
  verdict: (row) => row.verdict,
  reason: (row) => row.reason ?? "",
};

function tellSlice() {
  const slice = currentSlice();
  document.querySelectorAll(".slice-name").forEach((name) => { name.textContent = slice.label; });
  document.querySelectorAll("[data-metric]").forEach((shown) => {
    const {metric, part} = shown.dataset;
    const row = atEnd(slice, metric);
    shown.textContent = part in TEXTS ? TEXTS[part](row, data.metrics.end[metric]) : number(row[part]);
    if (part === "verdict") shown.dataset.verdict = row.verdict;
  });
}

follow("slice", () => {
  tellSlice();
  redraw("forest", "gsb", "curve", "gained", "front", "paying");
  const {label, n} = currentSlice();
  say(`Showing ${label}: ${data.paired ? `${number(n[0], true)} pairs` : `${number(n[0], true)} and ${number(n[1], true)} conversations`}.`);
});
follow("cost", () => redraw("gained", "front", "paying"));
follow("scale", () => redraw("forest"));
follow("which", () => redraw("forest"));
followMetric("curve-metric", data.metrics.iteration, "curve");
followMetric("slices-metric", data.metrics.end, "slices");
followMetric("pairs-metric", data.metrics.end, "pairs");
// A menu that the browser restored may show another slice than the page was written with.
tellSlice();
openPage();
