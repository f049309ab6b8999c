// Places of states by their transitions: states that lead to each other are near each other.
// Distances in steps from a few states give the rough places (pivot MDS), springs the fine ones.

const LEAST = 0.03; // probability; less likely outcomes pull nothing
const PIVOTS = 30;
const REACH = 2.5; // nearer states push each other, in steps
const MANY = 400;
const MOST_PUSHES = 400;
const MOST_SPRINGS = 12;
const GAP = 2; // between parts that no transition connects
const MOST_WIDTHS = 40; // of rows that are tried

// Map of id -> [x, y], with about unit distance between neighbours. `spacing` is that distance.
export function layoutOf(frame) {
  const places = new Map();
  places.spacing = 1;
  if (!frame) return places;
  const links = linksOf(frame);
  const parts = partsOf(links).map((part) => boxed(part, placesOf(part, links)));
  (parts.length ? packed(parts) : []).forEach(([left, low], index) => {
    const { part, at } = parts[index];
    part.forEach((id, k) => places.set(id, [left + at[k][0], low + at[k][1]]));
  });
  places.spacing = spacingOf([...places.values()]);
  return places;
}

// A part with its places from (0, 0) on, and the size of its rectangle.
function boxed(part, at) {
  const [low, high] = [Math.min, Math.max].map((best) => [0, 1].map((k) => (
    at.reduce((value, place) => best(value, place[k]), at[0][k]))));
  return { part, at: at.map((place) => [place[0] - low[0], place[1] - low[1]]),
    wide: high[0] - low[0], high: high[1] - low[1] };
}

// [left, low] of each rectangle: side by side in rows, so wide that all together are about a square.
function packed(parts) {
  const order = [...parts.keys()].sort((a, b) => parts[b].high - parts[a].high);
  let wide = -GAP;
  const widths = order.map((index) => (wide += parts[index].wide + GAP)); // a row of one, of two and so on
  const tried = widths.filter((_, k) => k % Math.ceil(widths.length / MOST_WIDTHS) === 0);
  return tried.map((most) => inRows(parts, order, most)).reduce((best, one) => (one.side < best.side ? one : best)).corners;
}

// Rows that are not wider than `most`, if no part is; `side` is the longer side of all together.
function inRows(parts, order, most) {
  const corners = [];
  let [left, low, row, side] = [0, 0, 0, 0];
  for (const index of order) {
    const { wide, high } = parts[index];
    if (left > 0 && left + wide > most + 1e-9) [left, low, row] = [0, low + row + GAP, 0];
    corners[index] = [left, low];
    row = Math.max(row, high);
    side = Math.max(side, left + wide, low + row);
    left += wide + GAP;
  }
  return { corners, side };
}

// The usual distance of a place to the nearest other one, as if they filled their rectangle.
function spacingOf(at) {
  if (at.length < 2) return 1;
  const [wide, high] = [0, 1].map((k) => {
    const along = at.map((place) => place[k]);
    return along.reduce((a, b) => Math.max(a, b)) - along.reduce((a, b) => Math.min(a, b)) + 1;
  });
  return Math.min(1, Math.sqrt((wide * high) / at.length));
}

// id -> Set of the states that it leads to or that lead to it.
function linksOf({ components, rows }) {
  const links = new Map([...components.keys()].sort((a, b) => a - b).map((id) => [id, new Set()]));
  for (const [id, actions] of rows) {
    if (!links.has(id)) continue;
    for (const row of actions) {
      for (const next of row?.next ?? []) {
        if (next.p < LEAST || next.id === id || !links.has(next.id)) continue;
        links.get(id).add(next.id);
        links.get(next.id).add(id);
      }
    }
  }
  return links;
}

// The connected parts, the largest first.
function partsOf(links) {
  const seen = new Set();
  const parts = [];
  for (const id of links.keys()) {
    if (seen.has(id)) continue;
    const part = [id];
    seen.add(id);
    for (let k = 0; k < part.length; k += 1) {
      for (const next of links.get(part[k])) {
        if (!seen.has(next)) {
          seen.add(next);
          part.push(next);
        }
      }
    }
    parts.push(part.sort((a, b) => a - b));
  }
  return parts.sort((a, b) => b.length - a.length);
}

function placesOf(part, links) {
  if (part.length === 1) return [[0, 0]];
  const index = new Map(part.map((id, k) => [id, k]));
  const near = part.map((id) => [...links.get(id)].map((other) => index.get(other)));
  const at = settled(rough(near), near);
  // Eigenvectors have no sign: the first state is to the left and below.
  const middle = [0, 1].map((k) => at.reduce((sum, place) => sum + place[k], 0) / at.length);
  const sign = [0, 1].map((k) => (at[0][k] > middle[k] ? -1 : 1));
  return at.map((place) => [sign[0] * place[0], sign[1] * place[1]]);
}

// Steps from one state to each other one.
function steps(near, from) {
  const found = new Float64Array(near.length).fill(-1);
  const queue = [from];
  found[from] = 0;
  for (let k = 0; k < queue.length; k += 1) {
    for (const next of near[queue[k]]) {
      if (found[next] < 0) {
        found[next] = found[queue[k]] + 1;
        queue.push(next);
      }
    }
  }
  return found;
}

// The two directions in which squared distances to the pivots differ most.
function rough(near) {
  const n = near.length;
  const columns = [];
  let pivot = 0;
  const least = new Float64Array(n).fill(Infinity);
  for (let k = 0; k < Math.min(PIVOTS, n); k += 1) {
    const far = steps(near, pivot);
    columns.push(far.map((value) => -0.5 * value * value));
    far.forEach((value, state) => { least[state] = Math.min(least[state], value); });
    pivot = least.reduce((best, value, state) => (value > least[best] ? state : best), 0);
  }
  const perRow = new Float64Array(n);
  let all = 0;
  for (const column of columns) {
    const mean = column.reduce((sum, value) => sum + value, 0) / n;
    column.forEach((value, state) => {
      column[state] = value - mean;
      perRow[state] += column[state] / columns.length;
    });
  }
  all = perRow.reduce((sum, value) => sum + value, 0) / n;
  for (const column of columns) column.forEach((value, state) => { column[state] = value - perRow[state] + all; });
  const axes = [];
  for (let k = 0; k < 2; k += 1) axes.push(topDirection(columns, axes));
  const scale = axes.map((axis) => Array.from({ length: n }, (_, state) => (
    columns.reduce((sum, column, c) => sum + axis[c] * column[state], 0))));
  const most = scale[0].reduce((best, value) => Math.max(best, Math.abs(value)), 1e-9);
  // Dense graphs have short ways: without space for all states they would lie on each other.
  const reach = Math.max(steps(near, 0).reduce((best, value) => Math.max(best, value)) / 2, 0.4 * Math.sqrt(n));
  // A little disorder parts states with the same distances to all pivots.
  return Array.from({ length: n }, (_, state) => [
    (reach * scale[0][state]) / most + 0.1 * Math.sin(7.3 * state),
    (reach * scale[1][state]) / most + 0.1 * Math.cos(11.7 * state)]);
}

function topDirection(columns, before) {
  let axis = columns.map((_, c) => Math.sin(1 + 2.3 * c + before.length));
  for (let round = 0; round < 40; round += 1) {
    for (const other of before) {
      const part = axis.reduce((sum, value, c) => sum + value * other[c], 0);
      axis = axis.map((value, c) => value - part * other[c]);
    }
    const along = new Float64Array(columns[0].length);
    columns.forEach((column, c) => column.forEach((value, state) => { along[state] += axis[c] * value; }));
    axis = columns.map((column) => column.reduce((sum, value, state) => sum + value * along[state], 0));
    const size = Math.hypot(...axis) || 1;
    axis = axis.map((value) => value / size);
  }
  return axis;
}

// Springs of unit length between neighbours, and a push between all that are nearer than REACH. Of
// many states each is pushed by a few others only.
function settled(at, near) {
  const n = near.length;
  const rounds = n > MANY ? 40 : 150;
  const stride = Math.max(1, Math.floor(n / MOST_PUSHES));
  for (let round = 0; round < rounds; round += 1) {
    const heat = 0.3 * (1 - round / rounds);
    const before = at.map((place) => [...place]);
    for (let state = 0; state < n; state += 1) {
      const [x, y] = before[state];
      let mx = 0;
      let my = 0;
      for (let other = (state + round) % stride; other < n; other += stride) {
        const dx = x - before[other][0];
        const dy = y - before[other][1];
        const far = Math.sqrt(dx * dx + dy * dy);
        if (other === state || far >= REACH) continue;
        const push = (0.5 * (1 / Math.max(far, 0.05) - 1 / REACH)) / Math.max(far, 1e-3);
        mx += push * dx;
        my += push * dy;
      }
      for (const other of near[state].slice(0, MOST_SPRINGS)) {
        const dx = before[other][0] - x;
        const dy = before[other][1] - y;
        const far = Math.sqrt(dx * dx + dy * dy) || 1e-3;
        mx += (0.5 * (far - 1) * dx) / far;
        my += (0.5 * (far - 1) * dy) / far;
      }
      const size = Math.sqrt(mx * mx + my * my) || 1;
      const step = Math.min(size, heat) / size;
      at[state][0] = x + step * mx;
      at[state][1] = y + step * my;
    }
  }
  return at;
}
