// What the reader chose, and everything that follows from it.
const PAPER_WIDTH = 660; // pixels that fit on A4 and Letter
const byId = (id) => document.getElementById(id);
const chosen = (id) => byId(id)?.value;
const currentSlice = () => data.slices[Number(chosen("slice") ?? 0)];

const DRAWINGS = {
  curve: (figure) => drawCurve(figure, currentSlice(), chosen("curve-metric")),
  added: (figure) => drawAdded(figure, currentSlice()),
  distribution: (figure) => drawDistribution(figure, currentSlice(), chosen("distribution-metric")),
  slices: (figure) => drawSlices(figure, data.dimensions[Number(chosen("dimension"))], chosen("slices-metric")),
  types: drawTypes,
};

function redraw(...names) {
  for (const name of names) {
    const figure = byId(`figure-${name}`);
    if (figure) DRAWINGS[name](figure);
  }
}

const redrawAll = () => redraw(...Object.keys(DRAWINGS));

function tellMetric(menu, metrics) {
  const {label, meaning, unit, anchor} = metrics[chosen(menu)];
  const term = document.createElement("a");
  term.className = "term";
  term.href = `#${encodeURIComponent(anchor)}`;
  term.textContent = label;
  byId(`${menu}-chosen`).replaceChildren(term, ` in ${unit}: ${meaning}`);
}

function tellSlice() {
  const slice = currentSlice();
  document.querySelectorAll(".slice-name").forEach((name) => { name.textContent = slice.label; });
  document.querySelectorAll("[data-count]").forEach((count) => { count.textContent = number(slice.n, true); });
  document.querySelectorAll("[data-metric]").forEach((shown) => {
    const end = atEnd(slice, shown.dataset.metric);
    if (end) shown.textContent = partText(end, shown.dataset.part);
  });
}

function partText(end, part) {
  if (part === "interval") return interval(end.low, end.high);
  if (part === "missing") return end.undefined ? `undefined for ${number(end.undefined, true)}` : "";
  return number(end[part], part === "n" || part === "undefined");
}

function follow(menu, action) {
  byId(menu)?.addEventListener("change", action);
}

function followMetric(menu, metrics, figure) {
  if (!byId(menu)) return;
  tellMetric(menu, metrics);
  follow(menu, () => { tellMetric(menu, metrics); redraw(figure); });
}

function copyCommand(button) {
  const command = button.previousElementSibling;
  const done = () => { byId("status").textContent = "Command copied."; button.textContent = "Copied"; };
  const select = () => window.getSelection().selectAllChildren(command);
  if (!navigator.clipboard) return select();
  return navigator.clipboard.writeText(command.textContent).then(done, select);
}

function setWidth(sizeOf) {
  document.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.relayout(plot, sizeOf(plot)));
}

function print() {
  document.querySelectorAll(".definitions:not([open])").forEach((group) => {
    group.open = true;
    group.dataset.opened = "";
  });
  document.documentElement.dataset.theme = "light";
  redrawAll();
  setWidth((plot) => ({width: Math.min(plot.clientWidth, PAPER_WIDTH)}));
}

function printed() {
  document.querySelectorAll("[data-opened]").forEach((group) => {
    group.open = false;
    delete group.dataset.opened;
  });
  delete document.documentElement.dataset.theme;
  redrawAll();
  setWidth(() => ({width: null, autosize: true}));
}

follow("slice", () => {
  tellSlice();
  redraw("curve", "added", "distribution");
  byId("status").textContent = `Showing ${currentSlice().label}: ${number(currentSlice().n, true)} conversations.`;
});
follow("dimension", () => redraw("slices"));
followMetric("curve-metric", data.metrics.iteration, "curve");
followMetric("distribution-metric", data.metrics.end, "distribution");
followMetric("slices-metric", data.metrics.end, "slices");
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".copy");
  if (button) copyCommand(button);
});
dark.addEventListener("change", redrawAll);
narrow.addEventListener("change", redrawAll);
window.addEventListener("beforeprint", print);
window.addEventListener("afterprint", printed);
window.addEventListener("hashchange", openTarget);
// A menu that the browser restored may show another slice than the page was written with.
if (data.slices.length) tellSlice();
redrawAll();
showDefinitions();
openTarget();
