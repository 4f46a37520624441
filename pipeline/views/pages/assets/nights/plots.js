// One function for each plot over days: it draws the plot and fills its table.
const OUTCOMES = {
  passed: {tone: "good", symbol: "circle"}, "gate failed": {tone: "warning", symbol: "diamond"},
  "bad data": {tone: "warning", symbol: "x"}, failed: {tone: "warning", symbol: "x-thin-open"},
};
const [MEAN, LOW, HIGH, COUNT] = [0, 1, 2, 3]; // places in the means of a day
const [BASE, DIFFERENCE, CHANGE_LOW, CHANGE_HIGH, CHANGE_COUNT, VERDICT] = [0, 1, 2, 3, 4, 5]; // in its changes

// One place for each day in the history, so that days without a run leave no gap.
function dayAxis(days) {
  const dates = days.map(({date}) => date);
  const step = Math.ceil(dates.length / (narrow.matches ? 4 : 9));
  return axis("day", {
    type: "category", categoryorder: "array", categoryarray: dates, showgrid: false, range: [-.7, dates.length - .3],
    tickvals: dates.filter((_, at) => at % step === 0),
  });
}

const marks = (points, looks) => estimates(points, "y", looks, 9, 3);

function drawTrend(figure, days, name) {
  const metric = data.metrics[name];
  const rows = days.map((day) => [day, day.means[name] ?? [null, null, null, 0], day.changes[name]]);
  const format = (value) => amount(value, metric);
  const points = rows.map(([day, mean]) => ({
    x: day.date, kind: day.verdict, y: mean[MEAN], low: mean[LOW], high: mean[HIGH],
    hover: `${day.date}<br>${format(mean[MEAN])} (${interval(mean[LOW], mean[HIGH], format)}), n = ${number(mean[COUNT], true)}<br>${day.verdict}${day.baseline ? `, compared with ${day.baseline}` : ""}`,
  }));
  const lines = [
    {x: days.map(({date}) => date), y: points.map(({y}) => y), mode: "lines", name: "mean", showlegend: false, hoverinfo: "skip", line: {color: colour("accent"), width: 1.5}},
    {x: days.map(({date}) => date), y: rows.map(([, , change]) => change?.[BASE] ?? null), mode: "lines", name: "baseline", hoverinfo: "skip", line: {color: colour("second"), width: 1.5, dash: "dot"}},
  ].filter(({y}) => y.some((value) => value !== null));
  const title = `Mean ${metric.title} by day`;
  fillTable(figure, title, ["day", "mean", "95 % interval", "n", "verdict", "baseline", "mean of the baseline"], rows.map(([day, mean, change]) => [
    day.date, format(mean[MEAN]), interval(mean[LOW], mean[HIGH], format), number(mean[COUNT], true), day.verdict, day.baseline || NONE, format(change?.[BASE]),
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
    hover: `${day.date}<br>${difference(change[DIFFERENCE])} (${interval(change[CHANGE_LOW], change[CHANGE_HIGH], difference)}), n = ${number(change[CHANGE_COUNT], true)}<br>${change[VERDICT]}, compared with ${day.baseline}`,
  }));
  const title = `Difference of ${metric.title} from the baseline by day`;
  fillTable(figure, title, ["day", "difference", "95 % interval", "n", "verdict", "baseline"], rows.map(([day, change]) => [
    day.date, difference(change[DIFFERENCE]), interval(change[CHANGE_LOW], change[CHANGE_HIGH], difference), number(change[CHANGE_COUNT], true), change[VERDICT], day.baseline,
  ]));
  return draw(figure, `${title}. The numbers are in the table below.`, marks(points, VERDICTS), {
    hovermode: "closest", xaxis: dayAxis(days), yaxis: axis(`difference of ${metric.title}`, {zeroline: true, zerolinecolor: colour("muted")}),
  });
}

function drawInput(figure, days, name) {
  const values = days.map((day) => day.counts[name] ?? null);
  const shares = name.startsWith("share");
  const format = (value) => (value === null ? NONE : shares ? percentage(value, 1) : number(value, true));
  const traces = [{
    type: "bar", x: days.map(({date}) => date), y: values, customdata: values.map(format), hovertemplate: "%{x}: %{customdata}<extra></extra>",
    marker: {color: colour("other")},
  }];
  fillTable(figure, `${name} by day`, ["day", name], days.map(({date}, at) => [date, format(values[at])]));
  return draw(figure, `${name} by day. The numbers are in the table below.`, traces, {
    hovermode: "closest", showlegend: false, height: 280, xaxis: dayAxis(days), yaxis: axis(name, {rangemode: "tozero", ...(shares ? {tickformat: ".1~%"} : {})}),
  });
}
