// What an observation says about the state, and why an action follows from it, in words.

import { percent, short } from "./format.js";
import { bestOf, isKnown, qOf } from "./planner.js";

// ln N(point; mean, cov) without its constant, by elimination on the small matrix.
export function logGaussian(point, mean, cov) {
  const d = mean.length;
  const a = cov.slice();
  const y = point.map((value, index) => value - mean[index]);
  let logDet = 0;
  let square = 0;
  for (let k = 0; k < d; k += 1) {
    const pivot = a[k * d + k];
    if (!(pivot > 0)) return -Infinity;
    logDet += Math.log(pivot);
    square += (y[k] * y[k]) / pivot;
    for (let i = k + 1; i < d; i += 1) {
      const factor = a[i * d + k] / pivot;
      y[i] -= factor * y[k];
      for (let j = k + 1; j < d; j += 1) a[i * d + j] -= factor * a[k * d + j];
    }
  }
  return -0.5 * (square + logDet);
}

// [{ id, p }] likely states first: the Gaussian of each, times what the step before led to expect.
export function beliefAt(frame, point, previous) {
  const expected = previous && expectedNext(frame, previous.state, previous.action);
  const scores = [...frame.components.values()].map((component) => {
    const prior = expected
      ? 0.02 * component.weight / totalWeight(frame) + 0.98 * (expected.get(component.id) ?? 0)
      : component.weight;
    return { id: component.id,
      score: Math.log(Math.max(prior, 1e-12)) + logGaussian(point, component.mean, component.cov) };
  });
  const top = Math.max(...scores.map((one) => one.score));
  if (!Number.isFinite(top)) return [];
  const total = scores.reduce((sum, one) => sum + Math.exp(one.score - top), 0);
  return scores.map((one) => ({ id: one.id, p: Math.exp(one.score - top) / total }))
    .sort((a, b) => b.p - a.p);
}

function totalWeight(frame) {
  let total = 0;
  for (const component of frame.components.values()) total += component.weight;
  return total || 1;
}

function expectedNext(frame, state, action) {
  const row = frame.rows.get(state)?.[action];
  return row ? new Map(row.next.map((next) => [next.id, next.p])) : null;
}

export function beliefValues(plan, belief) {
  const values = new Array(plan.nActions).fill(0);
  for (const { id, p } of belief) {
    const q = qOf(plan, id);
    if (q) q.forEach((value, action) => { values[action] += p * value; });
  }
  return values;
}

export function outlook(frame, state, action) {
  const row = frame.rows.get(state)?.[action];
  if (!row || row.visits < 0.5) return "never tried here";
  const likely = row.next.reduce((best, next) => (next.p > best.p ? next : best));
  const tried = row.visits < 1.5 ? "once" : `${Math.round(row.visits)} times`;
  if (row.end > 0.5) return `ends the episode (${percent(row.end)}, tried ${tried})`;
  const where = likely.id === state ? "stays here" : `to state ${likely.id}`;
  return `${where} (${percent(likely.p)}, tried ${tried})`;
}

// The lines of "why this action": the belief, the plan, and what was done.
export function why(frame, plan, belief, names, taken) {
  if (belief.length === 0) return ["No state is known yet, so every action is as good."];
  const here = belief[0];
  const lines = [`It believes it is in state ${here.id} (${percent(here.p)}).`];
  const best = bestOf(plan, here.id);
  if (best < 0) lines.push("It has tried nothing here yet.");
  else {
    const value = qOf(plan, here.id)[best];
    lines.push(`The best known action is '${names[best]}', worth ${short(value)}: `
      + `${outlook(frame, here.id, best)}.`);
  }
  if (taken === undefined || taken < 0) return lines;
  if (taken === best) lines.push(`It did '${names[taken]}': it followed its plan.`);
  else if (!isKnown(plan, here.id, taken)) {
    lines.push(`It did '${names[taken]}', which it had never tried here: it explored the unknown.`);
  } else {
    const loss = best < 0 ? 0 : qOf(plan, here.id)[best] - qOf(plan, here.id)[taken];
    lines.push(loss < 1e-3
      ? `It did '${names[taken]}', which is worth as much.`
      : `It did '${names[taken]}', worth ${short(loss)} less: to learn more, or by chance.`);
  }
  return lines;
}
