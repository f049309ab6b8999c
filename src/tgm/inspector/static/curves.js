// Curves of many runs: each by itself, or as the middle of a group; honest about runs that ended.

import { plotText } from "./charts.js";
import { curveColour } from "./format.js";

const BINS = 60;
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MOST_LINES = 300; // of single runs

// What the middle of a group and its band mean.
const BANDS = {
  median: (values) => [quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)],
  mean: (values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const half = values.length > 1
      ? (student(values.length - 1) * Math.sqrt(square / (values.length - 1))) / Math.sqrt(values.length) : 0;
    return [mean - half, mean, mean + half];
  },
};

// groups: Map of name -> runs; curve(run): [steps, values]; mode: "median", "mean" or "runs".
export function curvesOf(groups, curve, mode) {
  const all = [...groups.values()].flat();
  const last = Math.max(1, ...all.map((run) => run.last_step));
  const x = Array.from({ length: BINS }, (_, bin) => ((bin + 0.5) * last) / BINS);
  const traces = [];
  [...groups].forEach(([name, runs], index) => {
    const drawn = runs.map((run) => [run, curve(run)])
      .filter(([, [steps, values]]) => steps.length && values.some((value) => value !== null));
    if (!drawn.length) return;
    const look = { name: plotText(`${name} (${drawn.length})`), colour: curveColour(index),
      dash: DASHES[index % DASHES.length] };
    if (mode === "runs") traces.push(...lines(drawn, look, x, last));
    else traces.push(...band(drawn.map(([run, one]) => binned(one, last, run.last_step)), look, x, BANDS[mode]));
  });
  return traces;
}

function lines(drawn, { name, colour, dash }, x, last) {
  return drawn.slice(0, MOST_LINES).map(([run, one], k) => ({ x, y: binned(one, last, run.last_step), name,
    mode: "lines", legendgroup: name, showlegend: k === 0, opacity: 0.75, line: { color: colour, width: 1.2, dash },
    hovertemplate: `${plotText(run.name)}<br>step %{x:.0f}: %{y:.4~g}<extra></extra>` }));
}

// The middle is solid as long as all runs of the group last, and thin and dotted after that.
function band(curves, { name, colour, dash }, x, middleOf) {
  const at = x.map((_, bin) => curves.map((one) => one[bin]).filter((value) => value !== null).sort((a, b) => a - b));
  const most = Math.max(...at.map((values) => values.length));
  const end = at.findLastIndex((values) => values.length === most);
  const stats = at.map((values) => (values.length ? middleOf(values) : null));
  const text = at.map((values) => `${values.length} of ${curves.length} runs`);
  const part = (from, to, line, extra) => ({ x: x.slice(from, to), y: stats.slice(from, to).map((s) => s?.[1] ?? null),
    text: text.slice(from, to), name, mode: "lines", line, legendgroup: name,
    hovertemplate: `${name}<br>step %{x:.0f}: %{y:.4~g}<br>%{text}<extra></extra>`, ...extra });
  const traces = [];
  if (curves.length > 1) {
    const kept = x.map((_, bin) => bin).filter((bin) => at[bin].length > 1);
    traces.push({ x: [...kept, ...kept.toReversed()].map((bin) => x[bin]),
      y: [...kept.map((bin) => stats[bin][2]), ...kept.toReversed().map((bin) => stats[bin][0])],
      fill: "toself", fillcolor: `${colour}33`, line: { width: 0 }, mode: "lines", hoverinfo: "skip",
      legendgroup: name, showlegend: false });
  }
  traces.push(part(0, end + 1, { color: colour, width: 2.2, dash }));
  if (at.slice(end + 1).some((values) => values.length)) {
    traces.push(part(end, BINS, { color: colour, width: 1.1, dash: "dot" }, { showlegend: false }));
  }
  return traces;
}

// The curve of one run on common bins; a bin without data takes the value of the bin before, and
// after the last step of the run there is none.
function binned([steps, values], last, end) {
  const sums = new Array(BINS).fill(0);
  const counts = new Array(BINS).fill(0);
  const binOf = (step) => Math.min(BINS - 1, Math.floor((step / last) * BINS));
  steps.forEach((step, index) => {
    if (values[index] === null) return;
    sums[binOf(step)] += values[index];
    counts[binOf(step)] += 1;
  });
  let before = null;
  return sums.map((sum, bin) => {
    if (counts[bin]) before = sum / counts[bin];
    return bin > binOf(end) ? null : before;
  });
}

function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

// The 97.5 % point of Student's t; the series in 1/degrees is good to a per cent from 3 on.
const FEW = [NaN, 12.706, 4.303, 3.182, 2.776, 2.571];
function student(degrees) {
  if (degrees < FEW.length) return FEW[degrees];
  return 1.96 + 2.372 / degrees + 2.822 / degrees ** 2 + 2.556 / degrees ** 3;
}
