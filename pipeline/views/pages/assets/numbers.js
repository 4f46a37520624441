// Numbers as text, formatted as by pipeline/report/numbers.py.
const data = JSON.parse(document.getElementById("data").textContent);
const NONE = "–";

function number(value, whole = false) {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  if (!whole && size > 1e-12 && size < .001) return value.toExponential(1);
  if (!whole && size <= 1e-12) return "0.000";
  return fixed(value, whole || size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= .01 ? 3 : 5);
}

function amount(value, {share}) {
  if (!share || value === null || value === undefined) return number(value);
  return `${fixed(100 * value, 1)} %`;
}

function fixed(value, decimals) {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals, roundingMode: "halfEven", signDisplay: "negative",
  });
}

function difference(value) {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  if (size < 1e-12) return "0"; // a rounding error
  const sign = value > 0 ? "+" : "";
  if (size < .001) return sign + value.toExponential(1);
  const place = [100, 10, 1, .1, .01].findIndex((least) => size >= least);
  return sign + fixed(value, place < 0 ? 5 : place);
}

function change(value, {share}) {
  if (!share || value === null || value === undefined) return difference(value);
  if (Math.abs(value) < 1e-12) return "0 points";
  return `${value > 0 ? "+" : ""}${fixed(100 * value, 2)} points`;
}

function relative(value) {
  if (value === null || value === undefined) return NONE;
  return `${value >= 0 ? "+" : ""}${fixed(100 * value, 1)} %`;
}

function probability(value) {
  if (value === null || value === undefined) return NONE;
  return value < .001 ? "< 0.001" : fixed(value, 3);
}

function percentage(part, whole) {
  return whole ? `${(100 * part / whole).toFixed(1)} %` : NONE;
}

// The unit, if any, stands once.
function interval(low, high, format = number) {
  if (low === null) return "none";
  return `${format(low).replace(/ (%|points)$/, "")} to ${format(high)}`;
}
