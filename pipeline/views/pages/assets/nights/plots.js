// One function for each plot over days: it draws the plot and fills its table.
const OUTCOMES = {
  passed: {tone: "good", symbol: "circle"}, "gate failed": {tone: "warning", symbol: "diamond"},
  "bad data": {tone: "warning", symbol: "x"}, failed: {tone: "warning", symbol: "x-thin-open"},
};
// Places in the means of a day, from MEAN_TEXTS on with the texts of mean, interval and n.
const [MEAN, LOW, HIGH, MEAN_TEXTS] = [0, 1, 2, 3];
// Places in its changes, from BASE_TEXT on with the texts of the baseline, of difference, interval and n.
const [BASE, DIFFERENCE, CHANGE_LOW, CHANGE_HIGH, VERDICT, BASE_TEXT, CHANGE_TEXTS] = [0, 1, 2, 3, 4, 5, 6];
const NO_MEAN = [null, null, null, NONE, NONE, "0"];

// To scale of time: days without a run leave a gap.
function dayAxis(days) {
  const dates = days.map(({date}) => date);
  const step = Math.ceil(dates.length / (narrow.matches ? 4 : 9));
  const ROOM = .7 * 24 * 60 * 60 * 1000;
  return axis("day", {
    type: "date", showgrid: false, range: [Date.parse(dates[0]) - ROOM, Date.parse(dates.at(-1)) + ROOM],
    tickvals: dates.filter((_, at) => at % step === 0), tickformat: "%Y-%m-%d", hoverformat: "%Y-%m-%d",
  });
}

// The line through the values of days; it breaks where a day between two has no run.
function dayLine(days, values) {
  const DAY = 24 * 60 * 60 * 1000;
  const points = days.flatMap(({date}, at) => {
    const breaks = at > 0 && Date.parse(date) - Date.parse(days[at - 1].date) > DAY;
    return [...(breaks ? [[date, null]] : []), [date, values[at]]];
  });
  return {x: points.map(([date]) => date), y: points.map(([, value]) => value), mode: "lines", hoverinfo: "skip"};
}

const marks = (points, looks) => estimates(points, "y", looks, 9, 3);

function drawTrend(figure, days, name) {
  const metric = data.metrics[name];
  const rows = days.map((day) => [day, day.means[name] ?? NO_MEAN, day.changes[name]]);
  const points = rows.map(([day, mean]) => ({
    x: day.date, kind: day.verdict, y: mean[MEAN], low: mean[LOW], high: mean[HIGH],
    hover: `${day.date}<br>${mean[MEAN_TEXTS]} (${mean[MEAN_TEXTS + 1]}), n = ${mean[MEAN_TEXTS + 2]}<br>${day.verdict}${day.baseline ? `, compared with ${day.baseline}` : ""}`,
  }));
  const lines = [
    {...dayLine(days, points.map(({y}) => y)), name: "mean", showlegend: false, line: {color: colour("accent"), width: 1.5}},
    {...dayLine(days, rows.map(([, , change]) => change?.[BASE] ?? null)), name: "baseline", line: {color: colour("second"), width: 1.5, dash: "dot"}},
  ].filter(({y}) => y.some((value) => value !== null));
  const title = `Mean ${metric.title} by day`;
  fillTable(figure, title, ["day", "mean", "95 % interval", "n", "verdict", "baseline", "mean of the baseline"], rows.map(([day, mean, change]) => [
    day.date, ...mean.slice(MEAN_TEXTS), day.verdict, day.baseline || NONE, change?.[BASE_TEXT] ?? NONE,
  ]));
  return draw(figure, `${title}. The numbers are in the table below.`, [...lines, ...marks(points, OUTCOMES)], {
    hovermode: "closest", xaxis: dayAxis(days), yaxis: axis(metric.title, {zeroline: false, ...ticksOf(metric)}),
  });
}

function drawChanges(figure, days, name) {
  const metric = data.metrics[name];
  const rows = days.filter((day) => day.changes[name]).map((day) => [day, day.changes[name]]);
  const points = rows.map(([day, change]) => ({
    x: day.date, kind: change[VERDICT], y: change[DIFFERENCE], low: change[CHANGE_LOW], high: change[CHANGE_HIGH],
    hover: `${day.date}<br>${change[CHANGE_TEXTS]} (${change[CHANGE_TEXTS + 1]}), n = ${change[CHANGE_TEXTS + 2]}<br>${change[VERDICT]}, compared with ${day.baseline}`,
  }));
  const title = `Difference of ${metric.title} from the baseline by day`;
  fillTable(figure, title, ["day", "difference", "95 % interval", "n", "verdict", "baseline"], rows.map(([day, change]) => [
    day.date, ...change.slice(CHANGE_TEXTS), change[VERDICT], day.baseline,
  ]));
  return draw(figure, `${title}. The numbers are in the table below.`, marks(points, VERDICTS), {
    hovermode: "closest", xaxis: dayAxis(days), yaxis: axis(`difference of ${metric.title}`, {zeroline: true, zerolinecolor: colour("muted")}),
  });
}

function drawInput(figure, days, name) {
  const counts = days.map((day) => day.counts[name] ?? [null, NONE]);
  const shares = name.startsWith("share");
  const traces = [{
    type: "bar", x: days.map(({date}) => date), y: counts.map(([value]) => value), customdata: counts.map(([, text]) => text), hovertemplate: "%{x}: %{customdata}<extra></extra>",
    marker: {color: colour("other")},
  }];
  fillTable(figure, `${name} by day`, ["day", name], days.map(({date}, at) => [date, counts[at][1]]));
  return draw(figure, `${name} by day. The numbers are in the table below.`, traces, {
    hovermode: "closest", showlegend: false, height: 280, xaxis: dayAxis(days), yaxis: axis(name, {rangemode: "tozero", ...(shares ? {tickformat: ".1~%"} : {})}),
  });
}
