// Numbers as people read them; pipeline/report/numbers.py prints them the same.
const data = JSON.parse(document.getElementById("data").textContent);
const NONE = "–";

function number(value, whole = false) {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  const decimals = whole || size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals, roundingMode: "halfEven",
  });
}

function percentage(part, whole) {
  return whole ? `${(100 * part / whole).toFixed(1)} %` : NONE;
}

function interval(low, high) {
  return low === null ? "none" : `${number(low)} to ${number(high)}`;
}
