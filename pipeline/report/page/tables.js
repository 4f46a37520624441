// The numbers of a plot as a table, for screen readers and for copying.
function fillTable(figure, caption, headings, rows) {
  const table = figure.querySelector("table");
  table.caption.textContent = caption;
  table.tHead.replaceChildren(row(headings.map((text, at) => cell("th", text, at, "col"))));
  table.tBodies[0].replaceChildren(
    ...rows.map((cells) => row(cells.map((text, at) => cell(at ? "td" : "th", text, at, "row")))),
  );
}

function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

function cell(tag, text, at, scope) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (tag === "th") made.scope = scope;
  if (at) made.className = "right";
  return made;
}
