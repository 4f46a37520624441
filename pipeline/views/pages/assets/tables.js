// The numbers of a plot as a table, for screen readers and for copying.
function fillTable(figure, caption, headings, rows) {
  const table = figure.querySelector("table");
  const looks = headings.map((_, at) => lookOf(rows.map((cells) => String(cells[at])), at));
  table.caption.textContent = caption;
  table.tHead.replaceChildren(row(headings.map((text, at) => cell("th", text, looks[at], "col"))));
  table.tBodies[0].replaceChildren(
    ...rows.map((cells) =>
      row(cells.map((text, at) => cell(at ? "td" : "th", text, looks[at], "row"))),
    ),
  );
  labelCells(table);
}

// Labels each cell with its heading: a narrow page shows a row as lines of "heading: value".
function labelCells(table) {
  const headings = [...table.tHead.rows[0].cells].map((heading) => heading.textContent);
  for (const {cells} of [...table.tBodies].flatMap((body) => [...body.rows])) {
    const missing = headings.length - cells.length; // a heading above may span several rows
    for (const [at, one] of [...cells].entries()) {
      const heading = headings[at + missing];
      if (heading && one.tagName === "TD" && one.colSpan === 1) one.dataset.label = heading;
    }
  }
  table.classList.add("stacked");
}

// How a column stands: numbers on the right, short words on one line.
function lookOf(texts, at) {
  if (at && texts.every((text) => /^(-$|[-+]?[\d.])/.test(text))) return "right";
  return texts.every((text) => text.length <= 24) ? "whole" : "";
}

function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

function cell(tag, text, look, scope) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (tag === "th") made.scope = scope;
  if (look) made.className = look;
  return made;
}
