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

function tellSlice() {
  const slice = currentSlice();
  document.querySelectorAll(".slice-name").forEach((name) => { name.textContent = slice.label; });
  document.querySelectorAll("[data-count]").forEach((count) => { count.textContent = number(slice.n, true); });
  document.querySelectorAll("[data-metric]").forEach((shown) => {
    const end = atEnd(slice, shown.dataset.metric);
    if (end) shown.textContent = partText(end, shown.dataset.part, data.metrics.end[shown.dataset.metric]);
  });
}

function gainedBy({curves}) {
  return POPULATIONS.map((one) => ({...one, curves: curves[one.name], last: reachedBy(curves.reached)}));
}

function paid(slice, name) {
  return {
    label: "gain of iteration i", tone: "good", reached: slice.curves.reached,
    average: atEnd(slice, `CG_per_total.${name}`)?.mean ?? null,
  };
}

function drawFrontOf(figure, {label, slices}, name) {
  const points = slices.map((at) => data.slices[at]).map(({values, end}) => ({
    label: values.join(", "), cost: pointOf(end, `cost.${name}`), gain: pointOf(end, "CG"), tone: "accent", symbol: "circle",
  }));
  return drawFront(figure, `Gain and ${name} by ${label}`, name, points);
}

function tellCosts(slice) {
  document.querySelectorAll("[data-cost]").forEach((shown) => {
    const end = atEnd(slice, shown.dataset.cost);
    const cells = end
      ? [costAmount(end.mean), interval(end.low, end.high, costAmount), number(end.n, true), number(end.undefined, true)]
      : [NONE, NONE, NONE, NONE];
    cells.forEach((text, at) => { shown.cells[at + 1].textContent = text; });
  });
}

function partText(end, part, metric) {
  if (part === "interval") return interval(end.low, end.high, (value) => amount(value, metric));
  if (part === "missing") return end.undefined ? `undefined for ${number(end.undefined, true)}` : "";
  return part === "n" || part === "undefined" ? number(end[part], true) : amount(end[part], metric);
}

follow("slice", () => {
  tellSlice();
  tellCosts(currentSlice());
  redraw("curve", "added", "pool", "gained", "paying", "distribution");
  say(`Showing ${currentSlice().label}: ${number(currentSlice().n, true)} conversations.`);
});
follow("cost", () => redraw("gained", "paying", "front"));
follow("front-dimension", () => redraw("front"));
follow("dimension", () => redraw("slices"));
followMetric("curve-metric", data.metrics.iteration, "curve");
followMetric("distribution-metric", data.metrics.end, "distribution");
followMetric("slices-metric", data.metrics.end, "slices");
// A menu that the browser restored may show another slice than the page was written with.
if (data.slices.length) {
  tellSlice();
  tellCosts(currentSlice());
}
openPage();
