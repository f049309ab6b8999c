// Plans from a recorded model: value iteration, with the same values as the agent's planner.

const CONVERGED = 1e-5; // of the largest reward
const MOST_SWEEPS = 5000;
const MOST_WORK = 1e8; // evaluated actions and successors: about one second
const LEAST_SWEEPS = 100;

// The model as flat arrays. An action is known with more than `tried` visits; `bonus` is an extra
// reward for arriving in a state, by id.
function flatten(frame, nActions, tried, bonus) {
  const ids = [...frame.components.keys()].sort((a, b) => a - b);
  const index = new Map(ids.map((id, position) => [id, position]));
  const n = ids.length;
  const reward = new Float64Array(n * nActions);
  const known = new Uint8Array(n * nActions);
  const goesOn = new Float64Array(n * nActions);
  const first = new Int32Array(n * nActions + 1);
  const to = [];
  const share = [];
  ids.forEach((id, state) => {
    const rows = frame.rows.get(id);
    for (let action = 0; action < nActions; action += 1) {
      const slot = state * nActions + action;
      const row = rows?.[action];
      first[slot] = to.length;
      if (!row || row.visits <= tried) continue;
      known[slot] = 1;
      reward[slot] = row.reward;
      goesOn[slot] = 1 - row.end;
      for (const next of row.next) {
        if (!index.has(next.id)) continue;
        to.push(index.get(next.id));
        share.push(next.p);
        reward[slot] += next.p * (bonus?.get(next.id) ?? 0);
      }
    }
  });
  first[n * nActions] = to.length;
  return { ids, index, n, reward, known, goesOn, first, to: Int32Array.from(to),
    share: Float64Array.from(share) };
}

// { ids, index, q, value, best } of the greedy policy; best is -1 where nothing was tried.
export function plan(frame, nActions, gamma, tried, bonus = null) {
  const model = flatten(frame, nActions, tried, bonus);
  const { n, reward, known, goesOn, first, to, share } = model;
  let worst = 0;
  let unit = 0;
  reward.forEach((value) => {
    worst = Math.min(worst, value);
    unit = Math.max(unit, Math.abs(value));
  });
  const lowest = gamma < 1 ? worst / (1 - gamma) : worst * 1000;
  const value = new Float64Array(n).fill(lowest);
  const q = new Float64Array(n * nActions);
  const affordable = Math.max(LEAST_SWEEPS, Math.floor(MOST_WORK / (q.length + to.length + 1)));
  for (let sweep = 0; sweep < Math.min(MOST_SWEEPS, affordable); sweep += 1) {
    let moved = 0;
    for (let state = 0; state < n; state += 1) {
      let best = lowest;
      for (let slot = state * nActions; slot < (state + 1) * nActions; slot += 1) {
        if (!known[slot]) {
          q[slot] = lowest - 1;
          continue;
        }
        let future = 0;
        for (let link = first[slot]; link < first[slot + 1]; link += 1) {
          future += share[link] * value[to[link]];
        }
        q[slot] = reward[slot] + gamma * goesOn[slot] * future;
        if (q[slot] > best) best = q[slot];
      }
      moved = Math.max(moved, Math.abs(best - value[state]));
      value[state] = best;
    }
    if (moved < CONVERGED * (unit || 1)) break;
  }
  return finish(model, q, value, nActions, gamma);
}

// The plan of recorded values, for agents that learn action values by Q-learning.
export function recorded(frame, nActions, gamma) {
  const model = flatten(frame, nActions, Infinity, null);
  const q = new Float64Array(model.n * nActions);
  const value = new Float64Array(model.n);
  model.ids.forEach((id, state) => {
    const row = frame.full?.q.get(id) ?? new Array(nActions).fill(0);
    row.forEach((number, action) => { q[state * nActions + action] = number ?? 0; });
    value[state] = Math.max(...row.map((number) => number ?? 0));
    model.known.fill(1, state * nActions, (state + 1) * nActions);
  });
  return finish(model, q, value, nActions, gamma);
}

function finish(model, q, value, nActions, gamma) {
  const best = new Int32Array(model.n).fill(-1);
  for (let state = 0; state < model.n; state += 1) {
    for (let action = 0; action < nActions; action += 1) {
      const slot = state * nActions + action;
      if (model.known[slot] && (best[state] < 0 || q[slot] > q[state * nActions + best[state]])) {
        best[state] = action;
      }
    }
  }
  return { ids: model.ids, index: model.index, known: model.known, q, value, best, nActions, gamma };
}

export function qOf(plan_, id) {
  const state = plan_.index.get(id);
  if (state === undefined) return null;
  return Array.from(plan_.q.subarray(state * plan_.nActions, (state + 1) * plan_.nActions));
}

export function bestOf(plan_, id) {
  const state = plan_.index.get(id);
  return state === undefined ? -1 : plan_.best[state];
}

// All actions of a state whose value equals the best one, within a tolerance.
export function bestActions(plan_, id) {
  const state = plan_.index.get(id);
  if (state === undefined || plan_.best[state] < 0) return [];
  const at = state * plan_.nActions;
  const top = plan_.q[at + plan_.best[state]];
  const near = 1e-3 + 1e-4 * Math.abs(top);
  const found = [];
  for (let action = 0; action < plan_.nActions; action += 1) {
    if (plan_.known[at + action] && plan_.q[at + action] >= top - near) found.push(action);
  }
  return found;
}

export function samePlan(one, other, id) {
  const actions = bestActions(one, id);
  const others = bestActions(other, id);
  return actions.length === others.length && actions.every((action, k) => action === others[k]);
}

export function valueOf(plan_, id) {
  const state = plan_.index.get(id);
  return state === undefined ? null : plan_.value[state];
}

export function isKnown(plan_, id, action) {
  const state = plan_.index.get(id);
  return state !== undefined && plan_.known[state * plan_.nActions + action] === 1;
}
