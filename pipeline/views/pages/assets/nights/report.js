// The reader's choices on the page of days, and the plots that follow them.
const currentDays = () => data.days.slice(-Number(chosen("range")));

const DRAWINGS = {
  trend: (figure) => drawTrend(figure, currentDays(), chosen("trend-metric")),
  changes: (figure) => drawChanges(figure, currentDays(), chosen("change-metric")),
  input: (figure) => drawInput(figure, currentDays(), chosen("count")),
};

follow("range", () => {
  redrawAll();
  const shown = currentDays().length;
  say(`Showing ${shown} day${shown === 1 ? "" : "s"}.`);
});
follow("count", () => redraw("input"));
followMetric("trend-metric", data.metrics, "trend");
followMetric("change-metric", data.metrics, "changes");
openPage();
