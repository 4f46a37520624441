// Shared by all pages: draw the plots, follow the menus, explain the terms, print.
const PAPER_WIDTH = 660; // pixels that fit on A4 and Letter
const byId = (id) => document.getElementById(id);
const chosen = (id) => byId(id)?.value;

// Each page has DRAWINGS: by the name of a figure, the function that draws it.
function redraw(...names) {
  if (!window.Plotly) return; // until it is unpacked, when everything is drawn
  for (const name of names) {
    const figure = byId(`figure-${name}`);
    if (figure) DRAWINGS[name](figure);
  }
}

const redrawAll = () => redraw(...Object.keys(DRAWINGS));

function tellMetric(menu, metrics) {
  const {label, meaning, unit, share, anchor} = metrics[chosen(menu)];
  const term = document.createElement("a");
  term.className = "term";
  term.href = `#${encodeURIComponent(anchor)}`;
  term.textContent = label;
  byId(`${menu}-chosen`).replaceChildren(term, share ? `: ${meaning}` : `, ${unit}: ${meaning}`);
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
  const done = () => { say("Command copied."); button.textContent = "Copied"; };
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

// A narrow page folds its commands; a wide one shows them.
function fold() {
  document.querySelectorAll(".folded").forEach((part) => { part.open = !narrow.matches; });
}

function say(message) {
  byId("status").textContent = message;
}

// Called last: draws by the menus, whose choices a browser may have restored.
function openPage() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".copy");
    if (button) copyCommand(button);
  });
  dark.addEventListener("change", redrawAll);
  narrow.addEventListener("change", redrawAll);
  narrow.addEventListener("change", fold);
  window.addEventListener("beforeprint", print);
  window.addEventListener("afterprint", printed);
  window.addEventListener("hashchange", openTarget);
  document.querySelectorAll(".scroll table:has(thead th)").forEach(labelCells);
  fold();
  showDefinitions();
  openTarget();
  loadLibrary().then(drawFirst, () => say("This browser is too old to show the plots."));
}

function drawFirst() {
  redrawAll();
  document.documentElement.dataset.drawn = "";
  openTarget();
}
