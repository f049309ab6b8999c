// Values as shades and plans as arrows, over the states: shared by several views.

import { Keyed, s, set } from "./dom.js";
import { DIRECTIONS, css, inkOn, sequential, short } from "./format.js";
import { bestOf, valueOf } from "./planner.js";
import { project } from "./plane.js";

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
    const components = ctx.frame ? [...ctx.frame.components.values()] : [];
    this.arrows.update(components, (component) => component.id, (node, component) => {
      this.#arrow(ctx, plan, node, component, range);
    });
    return range;
  }

  #style(ctx, plan, other, component, [low, high]) {
    const value = valueOf(plan, component.id);
    const best = bestOf(plan, component.id);
    const rgb = sequential(high > low ? (value - low) / (high - low) : 0.5);
    const changed = other && best !== bestOf(other, component.id);
    const does = best < 0 ? "nothing was tried here" : `plan: ${ctx.actionNames[best]}`;
    const before = changed && bestOf(other, component.id) >= 0
      ? ` (was ${ctx.actionNames[bestOf(other, component.id)]})` : "";
    return { fill: css(rgb), label: "", class: changed ? " plain changed" : " plain",
      tip: `state ${component.id}\nvalue ${short(value)}\n${does}${before}` };
  }

  #arrow(ctx, plan, node, component, [low, high]) {
    const { figure } = this;
    const best = bestOf(plan, component.id);
    const [x, y] = figure.at(component.mean);
    const [line, label] = node.children;
    const share = high > low ? (valueOf(plan, component.id) - low) / (high - low) : 0.5;
    node.style.color = inkOn(sequential(share));
    const way = best < 0 ? null : direction(ctx, figure, component, best);
    set(node, { "data-action": best });
    if (way) {
      const size = 0.62 * Math.min(figure.ellipse(component.cov).rx, 34);
      const [dx, dy] = [way[0] * size, way[1] * size];
      const head = 0.55 * size;
      set(line, { d: `M${x - dx} ${y - dy}L${x + dx} ${y + dy}`
        + `M${x + dx - head * (way[0] + 0.8 * way[1])} ${y + dy - head * (way[1] - 0.8 * way[0])}`
        + `L${x + dx} ${y + dy}`
        + `L${x + dx - head * (way[0] - 0.8 * way[1])} ${y + dy - head * (way[1] + 0.8 * way[0])}` });
    } else set(line, { d: "" });
    set(label, { x, y });
    const words = way ? "" : best < 0 ? "?" : ctx.actionNames[best];
    if (label.textContent !== words) label.textContent = words;
  }
}

export function valueRange(plan) {
  const values = plan ? [...plan.value].filter((_, index) => plan.best[index] >= 0) : [];
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
}

// Where an action leads, in pixels of unit length: by its name in a maze, else by its outcome.
function direction(ctx, figure, component, action) {
  const named = DIRECTIONS[ctx.actionNames[action]];
  if (named && figure.plane.isSquare) return [named[0], -named[1]];
  const row = ctx.frame.rows.get(component.id)?.[action];
  if (!row) return null;
  const from = figure.pixel(project(figure.plane, component.mean));
  const to = [0, 0];
  let total = 0;
  for (const next of row.next) {
    const there = ctx.frame.components.get(next.id);
    if (!there) continue;
    const pixel = figure.pixel(project(figure.plane, there.mean));
    to[0] += next.p * pixel[0];
    to[1] += next.p * pixel[1];
    total += next.p;
  }
  if (!(total > 0)) return null;
  const way = [to[0] / total - from[0], to[1] / total - from[1]];
  const length = Math.hypot(...way);
  return length > 4 ? [way[0] / length, way[1] / length] : null;
}
