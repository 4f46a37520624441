// The reader's choices on a run's page, and the plots and numbers that follow them.
const currentSlice = () => data.slices[Number(chosen("slice") ?? 0)];

const DRAWINGS = {
  curve: (figure) => drawCurve(figure, currentSlice(), chosen("curve-metric")),
  added: (figure) => drawAdded(figure, currentSlice()),
  pool: (figure) => drawCurve(figure, currentSlice(), "pool_recall_at_i"),
  gained: (figure) => drawGained(figure, currentSlice().label, chosen("cost"), gainedBy(currentSlice())),
  paying: (figure) => drawPaying(figure, currentSlice().label, chosen("cost"), [paid(currentSlice(), chosen("cost"))]),
  front: (figure) => drawFrontOf(figure, data.dimensions[Number(chosen("front-dimension"))], chosen("cost")),
  distribution: (figure) => drawDistribution(figure, currentSlice(), chosen("distribution-metric")),
  slices: (figure) => drawSlices(figure, data.dimensions[Number(chosen("dimension"))], chosen("slices-metric")),
  types: drawTypes,
};

const tellSlice = () => tellTexts(currentSlice());

function gainedBy({curves}) {
  return POPULATIONS.map((one) => ({...one, curves: curves[one.name], last: reachedBy(curves.reached)}));
}

function paid(slice, name) {
  return {label: "gain of iteration i", tone: "good", counts: slice.curves.reached.counts, ...slice.paying[name]};
}

function drawFrontOf(figure, {label, slices}, name) {
  const points = slices.map((at) => data.slices[at]).map(({values, end}) => ({
    label: values.join(", "), cost: pointOf(end, `cost.${name}`), gain: pointOf(end, "CG"), tone: "accent", symbol: "circle",
  }));
  return drawFront(figure, `Gain and ${name} by ${label}`, name, points);
}

follow("slice", () => {
  tellSlice();
  redraw("curve", "added", "pool", "gained", "paying", "distribution");
  const {label, n} = currentSlice();
  say(`Showing ${label}: ${n} conversation${n === "1" ? "" : "s"}.`);
});
follow("cost", () => redraw("gained", "paying", "front"));
follow("front-dimension", () => redraw("front"));
follow("dimension", () => redraw("slices"));
followMetric("curve-metric", data.metrics.iteration, "curve");
followMetric("distribution-metric", data.metrics.end, "distribution");
followMetric("slices-metric", data.metrics.end, "slices");
// A menu that the browser restored may show another slice than the page was written with.
if (data.slices.length) tellSlice();
openPage();
