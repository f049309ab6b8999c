// Draws laws on a field: an arrow for one step of an action, an ellipse for where it may lead.

import { s } from "./dom.js";
import { PALETTE, css, percent, short } from "./format.js";

const LAW_EVERY = 30; // pixels between two arrows, at least
const LONGEST = 0.85; // of the distance between two arrows

// Darker than the palette: they are seen on a light halo.
const PALETTE_DARK = PALETTE.map((colour) => [1, 3, 5].map((at) => 0.8 * parseInt(colour.slice(at, at + 2), 16)));

export function lawColour(action) { return css(PALETTE_DARK[action % PALETTE_DARK.length]); }

// laws: "best", "all", "none" or the number of an action. Gives the factor by which arrows are longer
// than one step; 0 if there are none.
export function drawLaws(drawing, laws, actionNames) {
  const { slice, size, scale, layers } = drawing;
  if (laws === "none") {
    layers.laws.replaceChildren();
    return 0;
  }
  const { arrows: n } = slice.field;
  const every = Math.max(1, ...size.map((length) => Math.round(LAW_EVERY / (length / n))));
  const found = lawsOf(slice, laws, every);
  const lengths = found.map(({ move }) => Math.hypot(move[0] * scale[0], move[1] * scale[1]))
    .filter((length) => length > 0).sort((a, b) => a - b);
  const usual = lengths[Math.floor(0.9 * (lengths.length - 1))] ?? 0;
  const most = (LONGEST * every * Math.min(...size)) / n;
  const longer = usual > 0 ? nice(most / usual) : 1;
  layers.laws.replaceChildren(...found.map((law) => arrow(drawing, law, longer, actionNames)));
  return longer;
}

// [{ start, action, move, spread, end }] at each `every`-th point of the grid of arrows, along both axes.
function lawsOf(slice, laws, every) {
  const { arrows: n, n_actions: nActions, grid } = slice.field;
  const found = [];
  for (let row = Math.floor(every / 2); row < n; row += every) {
    for (let column = Math.floor(every / 2); column < n; column += every) {
      const share = [(column + 0.5) / n, (row + 0.5) / n];
      const start = share.map((part, k) => slice.low(k) + part * (slice.high(k) - slice.low(k)));
      const best = slice.action(...share.map((part) => Math.round(part * (grid - 1))));
      if (laws === "best" && best < 0) continue;
      const actions = laws === "all" ? [...Array(nActions).keys()] : [laws === "best" ? best : Number(laws)];
      for (const action of actions) found.push({ start, action, ...slice.law(column, row, action) });
    }
  }
  return found;
}

function arrow(drawing, { start, action, move, spread, end }, longer, actionNames) {
  const { slice, scale } = drawing;
  const [x, y] = drawing.pixel(start);
  const dx = move[0] * scale[0] * longer;
  const dy = -move[1] * scale[1] * longer;
  const { rx, ry, angle } = ellipse(spread, scale.map((one) => one * longer));
  const d = arrowPath(x, y, dx, dy);
  const sd = [0, 1].map((k) => (spread[2 * k] === null ? null : Math.sqrt(spread[2 * k])));
  const words = [0, 1].map((k) => `${slice.labels[slice.axes[k]]} ${signed(move[k])} ± ${short(sd[k], 2)}`);
  return s("g", { class: "law-mark", "data-action": action,
    "data-tip": `law of ${actionNames[action]} in one step:\n${words.join("\n")}`
      + `${end ? `\nends the episode: ${percent(end)}` : ""}` },
  s("ellipse", { class: "law-spread", rx: f(rx), ry: f(ry),
    transform: `translate(${f(x + dx)} ${f(y + dy)}) rotate(${f(angle)})` }),
  s("path", { class: "law-halo", d }), s("path", { class: "law", d, stroke: lawColour(action) }));
}

// Two standard deviations of where a law leads, drawn longer as its arrow is.
function ellipse([a, b, c], [sx, sy]) {
  const [xx, xy, yy] = [a * sx * sx, -b * sx * sy, c * sy * sy];
  const middle = (xx + yy) / 2;
  const part = Math.hypot((xx - yy) / 2, xy);
  const radius = (square) => Math.min(2 * Math.sqrt(Math.max(square, 0)), 2000) || 0;
  return { rx: radius(middle + part), ry: radius(middle - part),
    angle: (Math.atan2(2 * xy, xx - yy) * 90) / Math.PI || 0 };
}

function arrowPath(x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  if (!(length > 0.3)) return `M${f(x)} ${f(y)}h0`;
  const head = Math.min(0.45 * length, 5);
  const [ux, uy] = [dx / length, dy / length];
  const [ex, ey] = [x + dx, y + dy];
  return `M${f(x)} ${f(y)}L${f(ex)} ${f(ey)}M${f(ex - head * (ux + 0.7 * uy))} ${f(ey - head * (uy - 0.7 * ux))}`
    + `L${f(ex)} ${f(ey)}L${f(ex - head * (ux - 0.7 * uy))} ${f(ey - head * (uy + 0.7 * ux))}`;
}

function f(value) { return value.toFixed(1); }

function signed(value) { return value > 0 ? `+${short(value)}` : short(value); }

// 1, 2 or 5 times a power of ten, not above `value`.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const [factor] = [5, 2, 1].filter((one) => one * power <= value);
  return (factor ?? 1) * power;
}
