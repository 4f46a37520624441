// The values under the pointer: in a box beside the point where that covers no data, else below the plot.
const STEP = 6; // pixels between the places that are tried, and between samples of a curve
const LINES = ".plot path.js-line";
const BANDS = ".plot path.js-fill";
// The widths of the box and the curves that it must not cover, the best choice first.
const CHOICES = [["24rem", `${LINES}, ${BANDS}`], ["13rem", `${LINES}, ${BANDS}`], ["24rem", LINES], ["13rem", LINES]];
const MARKS = ".plot .trace .point, .plot .errorbars path, .plot .textpoint text";

function tellPointed(figure, plot) {
  if (plot.dataset.tellsPointed) return;
  plot.dataset.tellsPointed = "yes";
  const box = figure.querySelector(".pointed span");
  const linesOf = (text) => {
    const lines = [...text.querySelectorAll(".line")].map((line) => line.textContent);
    return lines.length ? lines : [text.textContent];
  };
  plot.on("plotly_hover", ({points}) => {
    const labels = [...plot.querySelectorAll(".hoverlayer :is(.hovertext .nums, .legend text)")].map(linesOf);
    box.textContent = labels.flat().join("\n");
    box.className = "beside";
    let place = null;
    for (const [widest, covered] of narrow.matches ? [] : CHOICES) place ??= freePlace(figure, plot, points, box, widest, covered);
    if (place) {
      box.style.left = `${place.left}px`;
      box.style.top = `${place.top}px`;
    } else {
      box.textContent = labels.map((lines) => lines.join(", ")).join("; ");
      box.className = "";
    }
  });
  plot.on("plotly_unhover", () => { box.textContent = ""; box.className = ""; });
}

// Where the box, at most `widest`, fits into the plot without covering these curves or a mark, as near to the points as
// possible; null if nowhere.
function freePlace(figure, plot, points, box, widest, curves) {
  box.style.maxWidth = widest;
  const origin = figure.getBoundingClientRect();
  const paper = plot.querySelector("svg.main-svg").getBoundingClientRect();
  const area = plot.querySelector(".nsewdrag").getBoundingClientRect();
  const {width, height} = box.getBoundingClientRect();
  const taken = dataOf(figure, curves);
  const [x, y] = ["xPixel", "yPixel"].map((at) => points.reduce((sum, point) => sum + point[at], 0) / points.length);
  const gap = (low, size, point) => Math.max(low - point, point - low - size, 0);
  const places = [];
  for (let top = area.top + 2; top + height <= area.bottom - 2; top += STEP) {
    for (let left = area.left + 2; left + width <= area.right - 2; left += STEP) {
      places.push({left, top, far: Math.hypot(gap(left, width, paper.left + x), gap(top, height, paper.top + y))});
    }
  }
  places.sort((one, other) => one.far - other.far);
  const free = places.find(({left, top}) => !taken.some((mark) => mark.left < left + width + STEP && mark.right > left - STEP
    && mark.top < top + height + STEP && mark.bottom > top - STEP));
  return free ? {left: free.left - origin.left, top: free.top - origin.top} : null;
}

// The places of all marks, and of points along curves.
function dataOf(figure, curves) {
  const marks = [...figure.querySelectorAll(MARKS)].map((mark) => mark.getBoundingClientRect());
  const along = [...figure.querySelectorAll(curves)].flatMap((path) => {
    const toPage = path.getScreenCTM();
    const samples = Array.from({length: Math.ceil(path.getTotalLength() / STEP) + 1}, (_, at) => path.getPointAtLength(at * STEP));
    return samples.map((point) => point.matrixTransform(toPage)).map(({x, y}) => ({left: x, right: x, top: y, bottom: y}));
  });
  return [...marks, ...along];
}
