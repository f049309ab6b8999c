// What the agent believed at a step, as it was recorded, and why its action follows from that.

import { percent, short } from "./format.js";
import { bestOf, isKnown, qOf } from "./planner.js";

// Probability that the agent gave to none of the states of `belief`.
export function unexplained(belief) {
  return Math.max(0, 1 - belief.reduce((sum, { p }) => sum + p, 0));
}

// Mean value of each action over those states of `belief` that the plan knows.
export function beliefValues(plan, belief) {
  const values = new Array(plan.nActions).fill(0);
  const known = belief.filter(({ id, p }) => p > 0 && plan.index.has(id));
  const total = known.reduce((sum, { p }) => sum + p, 0);
  for (const { id, p } of known) {
    qOf(plan, id).forEach((value, action) => { values[action] += (p / total) * value; });
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

// The lines of "why this action": the belief, the plan, and the action that was taken.
export function why(frame, plan, belief, names, taken) {
  if (belief.length === 0) {
    return ["No known state explains this observation, so every action is as good as any other."];
  }
  const here = belief[0];
  const lines = [`The most likely state is ${here.id} (${percent(here.p)}).`];
  if (!frame.components.has(here.id)) {
    lines.push(`State ${here.id} is not part of the model after this step.`);
    return lines;
  }
  const best = bestOf(plan, here.id);
  if (best < 0) lines.push("No action was tried in this state yet.");
  else {
    const value = qOf(plan, here.id)[best];
    lines.push(`The best known action is '${names[best]}' with value ${short(value)}: `
      + `${outlook(frame, here.id, best)}.`);
  }
  if (taken === undefined || taken < 0) return lines;
  if (taken === best) lines.push(`The agent took '${names[taken]}', as planned.`);
  else if (!isKnown(plan, here.id, taken)) {
    lines.push(`The agent took '${names[taken]}', which was never tried in this state: it explored.`);
  } else {
    const loss = best < 0 ? 0 : qOf(plan, here.id)[best] - qOf(plan, here.id)[taken];
    lines.push(loss < 1e-3
      ? `The agent took '${names[taken]}', which has the same value.`
      : `The agent took '${names[taken]}', whose value is ${short(loss)} lower: it explored, `
        + "or chose at random.");
  }
  return lines;
}
