// Draws values as shades and plans as arrows over the states; used by several views.

import { Keyed, s, set } from "./dom.js";
import { drawnStates } from "./states.js";
import { DIRECTIONS, css, inkOn, sequential, short } from "./format.js";
import { bestActions, bestOf, isKnown, samePlan, valueOf } from "./planner.js";

const SHADES = 64; // of the scale of values: states of one shade are drawn together

export class PolicyLayer {
  constructor(figure) {
    this.figure = figure;
    this.arrows = new Keyed(figure.top, () => s("g", { class: "arrow" },
      s("path", {}), s("text", { dy: "0.35em" })));
  }

  // `other` is a plan to compare with: states whose action differs from it are marked.
  draw(ctx, plan, other = null) {
    const { figure } = this;
    const range = valueRange(plan);
    figure.drawStates(ctx, (component) => this.#style(ctx, plan, other, component, range));
    // Support points are too many for an arrow each: the field has them. So are very small states.
    const drawn = figure.flows ? [] : drawnStates(ctx).filter((component) => figure.arrowSize(ctx, component));
    const isMany = figure.isMany(ctx);
    if (isMany) this.#drawMany(ctx, plan, drawn, range);
    this.arrows.update(isMany ? [] : drawn, (component) => component.id, (node, component) => {
      this.#arrow(ctx, plan, node, component, range);
    });
    return range;
  }

  #drawMany(ctx, plan, drawn, range) {
    const paths = new Map();
    for (const component of drawn) {
      const { x, y } = this.figure.shape(component);
      const ways = this.#ways(ctx, plan, component);
      const { size, ink } = this.#look(ctx, plan, component, range);
      const path = ways.map((way) => arrow(x, y, way, size, ways.length > 1)).join("");
      paths.set(ink, (paths.get(ink) ?? "") + path);
    }
    this.figure.many.arrows(paths);
  }

  // Size and colour of an arrow: it is read on its state, or on the ground if it is longer than that.
  #look(ctx, plan, component, range) {
    const size = this.figure.arrowSize(ctx, component);
    return { size, ink: size > this.figure.shape(component).ry ? "var(--ink)"
      : inkOn(sequential(shareOf(plan, component.id, range))) };
  }

  // Directions of the best actions; [] if all are equally good, or none moves the agent.
  #ways(ctx, plan, component) {
    const good = bestActions(plan, component.id);
    if (isAny(plan, component.id, good)) return [];
    return good.map((action) => direction(ctx, this.figure, component, action)).filter(Boolean);
  }

  #style(ctx, plan, other, component, [low, high]) {
    const value = valueOf(plan, component.id);
    const share = high > low ? (value - low) / (high - low) : 0.5;
    const rgb = sequential(Math.round(SHADES * share) / SHADES);
    const changed = other && !samePlan(plan, other, component.id);
    return { fill: css(rgb), label: "", class: changed ? " plain changed" : " plain",
      tip: () => `state ${component.id}\nvalue ${short(value)}\n${planWords(ctx, plan, component.id)}`
        + `${changed ? ` (was ${namesOf(ctx, other, component.id).join(", ") || "unknown"})` : ""}` };
  }

  #arrow(ctx, plan, node, component, range) {
    const best = bestOf(plan, component.id);
    const { x, y, ry } = this.figure.shape(component);
    const [line, label] = node.children;
    const { size, ink } = this.#look(ctx, plan, component, range);
    node.style.color = ink;
    const ways = this.#ways(ctx, plan, component);
    set(node, { "data-action": best });
    set(line, { d: ways.map((way) => arrow(x, y, way, size, ways.length > 1)).join("") });
    set(label, { x, y });
    const isEqual = isAny(plan, component.id, bestActions(plan, component.id));
    const name = best < 0 ? "?" : isEqual ? "any" : ctx.actionNames[best];
    // A name that is longer than its state would lie on other states: the tooltip has it.
    const words = ways.length || 6 * name.length > 2 * ry + 4 ? "" : name;
    if (label.textContent !== words) label.textContent = words;
  }
}

function namesOf(ctx, plan, id) { return bestActions(plan, id).map((action) => ctx.actionNames[action]); }

function planWords(ctx, plan, id) {
  if (bestOf(plan, id) < 0) return "nothing was tried here";
  const good = namesOf(ctx, plan, id);
  return good.length > 1 ? `equally good: ${good.join(", ")}` : `plan: ${good[0]}`;
}

function shareOf(plan, id, [low, high]) {
  return high > low ? (valueOf(plan, id) - low) / (high - low) : 0.5;
}

function isAny(plan, id, good) { return good.length > 2 && good.length === knownActions(plan, id); }

function knownActions(plan, id) {
  let n = 0;
  for (let action = 0; action < plan.nActions; action += 1) n += isKnown(plan, id, action) ? 1 : 0;
  return n;
}

// An arrow through the middle of a state; one of several begins in the middle.
function arrow(x, y, [wx, wy], size, isOneOfMany) {
  const [dx, dy] = [wx * size, wy * size];
  const head = (isOneOfMany ? 0.42 : 0.55) * size;
  const [fx, fy] = isOneOfMany ? [x, y] : [x - dx, y - dy];
  const [ex, ey] = isOneOfMany ? [x + 1.15 * dx, y + 1.15 * dy] : [x + dx, y + dy];
  return `M${f(fx)} ${f(fy)}L${f(ex)} ${f(ey)}`
    + `M${f(ex - head * (wx + 0.8 * wy))} ${f(ey - head * (wy - 0.8 * wx))}L${f(ex)} ${f(ey)}`
    + `L${f(ex - head * (wx - 0.8 * wy))} ${f(ey - head * (wy + 0.8 * wx))}`;
}

function f(value) { return value.toFixed(1); }

export function valueRange(plan) {
  const values = plan ? [...plan.value].filter((_, index) => plan.best[index] >= 0) : [];
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
}

// Direction of an action as a unit vector on the screen: by its name in a maze, else by its outcome.
function direction(ctx, figure, component, action) {
  const named = DIRECTIONS[ctx.actionNames[action]];
  if (named && figure.plane.isSquare) return [named[0], -named[1]];
  const row = ctx.frame.rows.get(component.id)?.[action];
  if (!row) return null;
  const { x, y } = figure.shape(component);
  const to = [0, 0];
  let total = 0;
  for (const next of row.next) {
    const there = ctx.frame.components.get(next.id);
    if (!there) continue;
    const place = figure.shape(there);
    to[0] += next.p * place.x;
    to[1] += next.p * place.y;
    total += next.p;
  }
  if (!(total > 0)) return null;
  const way = [to[0] / total - x, to[1] / total - y];
  const length = Math.hypot(...way);
  return length > 4 ? [way[0] / length, way[1] / length] : null;
}
