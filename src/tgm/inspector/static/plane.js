// The two coordinates that are drawn: features, principal components, or places by transitions.

export const LAYOUT = "layout";

// [value, words] of all coordinates that can be an axis.
export function axisOptions(summary) {
  const { n_features: d, feature_names: names, left_out: leftOut } = summary.interface;
  const features = names.map((name, k) => [`f${k}`, leftOut.includes(k) ? `${name} (left out)` : name]);
  return d > 2 ? [["p1", "principal 1"], ["p2", "principal 2"], ...features] : features;
}

// The axes of a run when nobody has chosen: "f0,f1", "p1,p2", "f0" or "layout".
export function usualAxes(summary) {
  const { n_features: d, is_categorical: isCategorical } = summary.interface;
  if (isCategorical) return LAYOUT;
  if (d < 2) return "f0";
  return d === 2 ? "f0,f1" : "p1,p2";
}

// `text` if it names axes of this run, else null.
export function readAxes(summary, text) {
  if (!text || text === LAYOUT) return text || null;
  const known = new Set(axisOptions(summary).map(([name]) => name));
  const parts = text.split(",");
  const fits = parts.length === Math.min(2, summary.interface.n_features);
  return fits && parts.every((part) => known.has(part)) ? text : null;
}

// { u, v, low, high, labels, isSquare }: coordinates are u·x and v·x. With `places` (a Map of id and
// [x, y]) the coordinates of a state are its place.
export function planeOf(summary, axes, places) {
  const chosen = axes ?? usualAxes(summary);
  if (chosen === LAYOUT) return layoutPlane(places());
  const [one, other] = chosen.split(",").map((name) => axisOf(summary, name));
  const isSquare = Boolean(summary.maze) && summary.interface.n_features === 2 && chosen === "f0,f1";
  if (!other) {
    return { u: one.along, v: one.along.map(() => 0), low: [one.low, -1], high: [one.high, 1],
      labels: [one.label, ""], isSquare: false, isLine: true };
  }
  return { u: one.along, v: other.along, low: [one.low, other.low], high: [one.high, other.high],
    labels: [one.label, other.label], isSquare, isEqual: isSquare };
}

function axisOf({ plane, interface: { n_features: d, feature_names: names } }, name) {
  const k = Number(name.slice(1));
  if (name.startsWith("p")) {
    return { along: plane.directions[k - 1], low: plane.principal_low[k - 1],
      high: plane.principal_high[k - 1], label: `principal component ${k}` };
  }
  return { along: Array.from({ length: d }, (_, index) => (index === k ? 1 : 0)),
    low: plane.low[k], high: plane.high[k], label: names[k] };
}

function layoutPlane(places) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (const place of places.values()) {
    for (const k of [0, 1]) {
      low[k] = Math.min(low[k], place[k]);
      high[k] = Math.max(high[k], place[k]);
    }
  }
  for (const k of [0, 1]) {
    if (!(high[k] - low[k] >= 2)) [low[k], high[k]] = places.size ? [(low[k] + high[k]) / 2 - 1, (low[k] + high[k]) / 2 + 1] : [-1, 1];
  }
  return { places, low, high, labels: ["", ""], isSquare: false, isEqual: true };
}

function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k += 1) sum += a[k] * b[k];
  return sum;
}

export function project(plane, point) {
  return [dot(plane.u, point), dot(plane.v, point)];
}

// The covariance of the two coordinates: [xx, xy, yy].
export function projectCovariance(plane, cov) {
  const d = plane.u.length;
  const times = (w) => Array.from({ length: d }, (_, k) => dot(cov.slice(k * d, (k + 1) * d), w));
  const cu = times(plane.u);
  const cv = times(plane.v);
  return [dot(plane.u, cu), dot(plane.u, cv), plane.isLine ? 0.02 : dot(plane.v, cv)];
}
