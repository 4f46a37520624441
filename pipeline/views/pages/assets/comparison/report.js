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
    const {curves, end, paying} = arms[one.arm];
    return {
      ...one, curves: curves.everyone ?? curves.all, last: reachedBy(curves.reached), counts: curves.reached.counts, ...paying[name],
      cost: pointOf(end, `cost.${name}`), gain: pointOf(end, "CG"),
    };
  });
}

const tellSlice = () => tellTexts(currentSlice());

follow("slice", () => {
  tellSlice();
  redraw("forest", "gsb", "curve", "gained", "front", "paying");
  const {label, n} = currentSlice();
  say(`Showing ${label}: ${n}.`);
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
