// The page's data. Its texts are shown as they are: nothing here formats a number.
const data = JSON.parse(document.getElementById("data").textContent);
const NONE = "-";

// The numbers of a slice and metric by part, and the texts to show by their names.
function partsOf(values, parts, names) {
  if (!values) return null;
  const texts = Object.fromEntries(names.map((name, place) => [name, values.at(-1)[place]]));
  return {...Object.fromEntries(parts.map((part, place) => [part, values[place]])), texts};
}

// Shows the texts of the chosen slice in the elements that name a metric and a part.
function tellTexts(slice) {
  document.querySelectorAll(".slice-name").forEach((name) => { name.textContent = slice.label; });
  document.querySelectorAll("[data-metric]").forEach((shown) => {
    const {metric, part} = shown.dataset;
    const texts = atEnd(slice, metric)?.texts;
    shown.textContent = texts?.[part] ?? NONE;
    if (part === "verdict") shown.dataset.verdict = texts?.verdict;
  });
}
