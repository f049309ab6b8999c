// Transition matrices: one per action, rows are states, columns are next states.

import { checkbox, choice, h, panel, set } from "../dom.js";
import { css, diverging, isDark, percent, sequential, short } from "../format.js";
import { NO_MODEL } from "../states.js";

const MODES = [
  ["mean", "probability"], ["counts", "counts"], ["entropy", "entropy"], ["change", "change since"],
];
const MOST_SIDE = 800; // cells of a row: with more states, each cell stands for several
const LARGE = 14; // pixels of a large cell
const DIGIT = 6.5; // pixels of a digit of a label
const MOST_ACTIONS = 24; // matrices, or columns of the entropy
const HELP = "Row: the state before. Column: the state after. 'Entropy' is that of each action's "
  + "outcome; 'change since' compares with another step, which 'pin here' sets. "
  + "Click a row to select its state.";

export class Matrices {
  constructor(ctx) {
    this.ctx = ctx;
    this.mode = "mean";
    this.grid = h("div", { class: "matrices" });
    this.scale = h("span", { class: "scale" });
    this.reference = h("input", { type: "number", min: 0, step: 1, value: 0, class: "number",
      "aria-label": "step to compare with", "data-tip": "the step to compare with",
      onchange: (event) => this.#pin(Number(event.target.value)) });
    this.pin = h("span", { class: "control", hidden: true }, h("span", {}, "step"), this.reference,
      h("button", { type: "button", "data-tip": "compare later steps with this one",
        onclick: () => this.#pin(ctx.step) }, "pin here"));
    this.action = null; // the one that is drawn; null: all
    this.isLarge = false;
    this.actions = h("span", {});
    this.element = panel({
      title: "Transition matrices",
      id: "matrices",
      help: HELP,
      controls: [choice("show", MODES, this.mode, (mode) => {
        this.mode = mode;
        this.pin.hidden = mode !== "change";
        ctx.redraw("option");
      }, "what the shade of a cell means"), this.pin, this.actions, checkbox("large cells", this.isLarge, (on) => {
        this.isLarge = on;
        ctx.redraw("option");
      }, "cells of 14 pixels, each with its label; scroll to see all")],
      legend: [this.scale],
    }, this.grid);
    this.cells = [];
  }

  #pin(step) {
    const { ctx } = this;
    ctx.reference = Math.min(Math.max(Math.round(step) || 0, 0), ctx.lastStep);
    this.reference.value = ctx.reference;
    const { history } = ctx;
    history.load(ctx.reference).then(() => ctx.redraw("option"));
  }

  update() {
    const { ctx } = this;
    if (!this.element.clientWidth) return;
    if (!ctx.frame) {
      for (const cell of this.cells) this.#draw(cell, null, []);
      this.scale.replaceChildren(NO_MODEL);
      return;
    }
    const ids = [...ctx.frame.components.keys()].sort((a, b) => a - b);
    this.size = Math.max(1, Math.ceil(ids.length / MOST_SIDE));
    this.#drawActions();
    const names = ctx.actionNames.slice(0, MOST_ACTIONS);
    const chosen = this.action === null ? names.map((_, action) => action) : [this.action];
    const pictures = this.mode === "entropy" ? [this.#entropy(ids, names)]
      : chosen.map((action) => this.#matrix(ids, ctx.actionNames[action], action));
    while (this.cells.length < pictures.length) this.#addCell();
    this.grid.classList.toggle("one", pictures.length === 1);
    this.grid.classList.toggle("two", pictures.length === 2 || pictures.length === 4);
    this.grid.classList.toggle("large", this.isLarge);
    for (const { scroller } of this.cells) set(scroller, { tabindex: this.isLarge ? 0 : null });
    this.cells.forEach((cell, index) => this.#draw(cell, pictures[index], ids));
    this.#drawScale(pictures);
  }

  #drawActions() {
    const { ctx } = this;
    const key = `${ctx.id}|${ctx.actionNames.join("\n")}`;
    if (key === this.actionsKey) return;
    this.actionsKey = key;
    this.action = null;
    const options = [["all", "all"], ...ctx.actionNames.map((name, action) => [String(action), name])];
    this.actions.replaceChildren(...(ctx.nActions > 1 ? [choice("action", options, "all", (value) => {
      this.action = value === "all" ? null : Number(value);
      ctx.redraw("option");
    }, "all matrices, or one in full width")] : []));
  }

  // States in groups of `size`, each with its label; a click selects the first state of a group.
  #groups(ids) {
    const { size } = this;
    return Array.from({ length: Math.ceil(ids.length / size) }, (_, k) => {
      const first = ids[k * size];
      const last = ids[Math.min((k + 1) * size, ids.length) - 1];
      return { id: first, words: first === last ? `${first}` : `${first} to ${last}` };
    });
  }

  // A cell shows the largest value of its group: with one state in each, the value itself.
  #matrix(ids, name, action) {
    const { ctx, size } = this;
    const groups = this.#groups(ids);
    const n = groups.length;
    const values = new Float64Array(n * n);
    const group = new Map(ids.map((id, position) => [id, Math.floor(position / size)]));
    const amount = (next) => (this.mode === "counts" ? next.count : next.p);
    const before = this.mode === "change" ? ctx.history.frameAt(ctx.reference) : null;
    for (const id of ids) {
      const row = new Map();
      for (const [frame, sign] of [[ctx.frame, 1], [before, -1]]) {
        for (const next of frame?.rows.get(id)?.[action]?.next ?? []) {
          if (group.has(next.id)) row.set(next.id, (row.get(next.id) ?? 0) + sign * amount(next));
        }
      }
      for (const [after, value] of row) {
        const at = group.get(id) * n + group.get(after);
        if (Math.abs(value) > Math.abs(values[at])) values[at] = value;
      }
    }
    return { title: name, rows: groups, columns: groups, values };
  }

  #entropy(ids, names) {
    const { ctx, size } = this;
    const groups = this.#groups(ids);
    const values = new Float64Array(groups.length * names.length).fill(NaN);
    ids.forEach((id, state) => {
      (ctx.frame.rows.get(id) ?? []).slice(0, names.length).forEach((row, action) => {
        if (!row) return;
        const at = Math.floor(state / size) * names.length + action;
        const bits = row.next.reduce(
          (sum, next) => (next.p > 0 ? sum - next.p * Math.log2(next.p) : sum), 0);
        values[at] = Number.isNaN(values[at]) ? bits : Math.max(values[at], bits);
      });
    });
    return { title: "Entropy of the next state, for each state (row) and action (column)",
      rows: groups, columns: names.map((words) => ({ words })), values };
  }

  #addCell() {
    const canvas = h("canvas", { class: "matrix", "data-tip": "" });
    const title = h("figcaption", {});
    const names = h("div", { class: "columns-names" });
    const [above, beside] = ["above", "beside"].map((side) => h("div", { class: `labels-${side}`, "aria-hidden": "true" }));
    const fine = h("canvas", { class: "fine", "aria-hidden": "true" });
    const sheet = h("div", { class: "sheet" }, above, beside, canvas, fine);
    const scroller = h("div", { class: "sheet-scroller", role: "group", "aria-label": "cells of the matrix" }, sheet);
    const cell = { canvas, fine, title, names, above, beside, sheet, scroller,
      figure: h("figure", {}, title, scroller, names) };
    canvas.addEventListener("mousemove", (event) => {
      const at = this.#under(cell, event);
      canvas.setAttribute("data-tip", at ? this.#words(cell, at) : "");
    });
    canvas.addEventListener("click", (event) => {
      const at = this.#under(cell, event);
      if (at) this.ctx.select(cell.picture.rows[at.row].id);
    });
    this.cells.push(cell);
    this.grid.append(cell.figure);
  }

  #under({ canvas, picture }, event) {
    if (!picture) return null;
    const box = canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * picture.rows.length);
    const column = Math.floor(((event.clientX - box.left) / box.width) * picture.columns.length);
    return picture.rows[row] === undefined || picture.columns[column] === undefined
      ? null : { row, column };
  }

  #words({ picture }, { row, column }) {
    const value = picture.values[row * picture.columns.length + column];
    const state = picture.rows[row].words;
    const after = picture.columns[column].words;
    const most = this.size > 1 ? "at most " : "";
    if (this.mode === "entropy") {
      const words = Number.isNaN(value) ? "never tried" : `${most}${short(value)} bits`;
      return `state ${state}, ${after}: ${words}`;
    }
    const amount = this.mode === "counts" ? short(value)
      : this.mode === "change" ? `${value > 0 ? "+" : ""}${short(value)}` : percent(value);
    return `${picture.title}: state ${state} → ${after}: ${most}${amount}`;
  }

  #draw(cell, picture, ids) {
    cell.figure.hidden = !picture;
    if (!picture) return;
    cell.picture = picture;
    cell.canvas.picture = picture; // for the exports
    if (cell.title.textContent !== picture.title) cell.title.textContent = picture.title;
    set(cell.canvas, { role: "img", "aria-label": `Matrix: ${picture.title}` });
    const rows = picture.rows.length;
    const columns = picture.columns.length;
    if (!rows || !columns) return;
    cell.canvas.width = columns;
    cell.canvas.height = rows;
    cell.canvas.style.aspectRatio = this.mode === "entropy" ? "1.5" : "1";
    cell.names.replaceChildren(...(this.mode === "entropy"
      ? picture.columns.map(({ words }) => h("span", {}, words)) : []));
    const context = cell.canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    const words = new Uint32Array(image.data.buffer);
    const shades = this.#shades();
    const most = this.mode === "change" ? 1 : this.#most([picture]);
    const chosen = Math.floor(ids.indexOf(this.ctx.selected) / this.size);
    for (let row = 0; row < rows; row += 1) {
      // A pixel is one 32-bit number; the order of its bytes assumes a little-endian machine.
      const opaque = chosen >= 0 && row !== chosen ? 0x6e000000 : 0xff000000;
      for (let index = row * columns; index < (row + 1) * columns; index += 1) {
        const value = picture.values[index] / most;
        if (Number.isNaN(value)) continue; // never tried: the canvas shows through
        const share = this.mode === "change" ? (value + 1) / 2 : value || 0;
        words[index] = shades[Math.round(255 * Math.min(Math.max(share, 0), 1))] | opaque;
      }
    }
    context.putImageData(image, 0, 0);
    this.#drawLabels(cell, picture);
    drawFine(cell, picture, words);
  }

  // The ids of rows and columns, as many as have space.
  #drawLabels({ canvas, above, beside, sheet }, picture) {
    const large = LARGE * picture.columns.length;
    const digits = Math.max(...picture.rows.map(({ id }) => String(id).length));
    const aside = Math.max(34, 8 + DIGIT * digits);
    sheet.style.setProperty("--aside", `${aside}px`);
    sheet.style.width = this.isLarge ? `${large + aside}px` : "";
    canvas.style.minHeight = this.isLarge ? `${LARGE * picture.rows.length}px` : "";
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    const key = [this.mode, wide, high, picture.rows.map(({ id }) => id).join()].join("|");
    if (key === sheet.key || !wide) return;
    sheet.key = key;
    const put = (holder, items, length, space, side) => {
      const every = Math.ceil((space * items.length) / length);
      let last = -Infinity;
      holder.replaceChildren(...items.flatMap(({ words }, index) => {
        // Half of the first label would lie outside, on the labels of the other side.
        const place = Math.max(((index + 0.5) * length) / items.length, space / 2);
        if (index % every || place - last < space) return [];
        last = place;
        const label = h("span", {}, words.split(" ")[0]);
        label.style[side] = `${(100 * place) / length}%`;
        return [label];
      }));
    };
    put(beside, picture.rows, high, 13, "top");
    if (this.mode === "entropy") above.replaceChildren();
    else put(above, picture.columns, wide, 8 + 7 * String(picture.rows.at(-1).words).split(" ")[0].length, "left");
  }

  // 256 colours from low to high; blue in the high byte, then green, then red.
  #shades() {
    const key = `${this.mode === "change"}|${isDark()}`;
    if (key !== this.shadesOf) {
      this.shadesOf = key;
      this.shades = Uint32Array.from({ length: 256 }, (_, k) => {
        const rgb = this.mode === "change" ? diverging((2 * k) / 255 - 1) : sequential(k / 255);
        const [red, green, blue] = rgb.map(Math.round);
        return (blue << 16) | (green << 8) | red;
      });
    }
    return this.shades;
  }

  #most(pictures) {
    if (this.mode === "mean") return 1;
    let most = this.mode === "entropy" ? 1 : 0; // the scale ends at one bit or more
    for (const picture of pictures) {
      for (const value of picture.values) if (value > most) most = value;
    }
    return most || 1;
  }

  #drawScale(pictures) {
    const isChange = this.mode === "change";
    const most = this.#most(pictures);
    const ends = isChange ? ["−1", "+1"] : ["0", this.mode === "mean" ? "1" : short(most)];
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(
      isChange ? diverging(2 * share - 1) : sequential(share)));
    const ramp = h("span", { class: "ramp" });
    ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
    const what = { mean: "probability of the next state", counts: "expected number of times seen",
      entropy: "bits", change: "change of probability" }[this.mode];
    const axes = this.mode === "entropy" ? "grey: never tried" : "row: before, column: after";
    const left = this.ctx.actionNames.length - MOST_ACTIONS;
    const notes = [this.size > 1 ? `; a cell is ${this.size} states, and shows the largest value` : "",
      left > 0 ? `; ${left} actions are not shown` : ""];
    this.scale.replaceChildren(ends[0], ramp, ends[1], ` ${what}; ${axes}${notes.join("")}`);
  }
}

// Where cells are smaller than pixels, scaling would leave most of them out: each pixel has the colour of
// the largest of its cells. `inks` are the colours of the cells.
function drawFine({ canvas, fine }, { rows, columns, values }, inks) {
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight]
    .map((length) => Math.round(length * window.devicePixelRatio));
  fine.hidden = !wide || columns.length <= wide || rows.length <= high;
  if (fine.hidden) return;
  [fine.width, fine.height] = [wide, high];
  const context = fine.getContext("2d");
  const image = context.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const most = new Float64Array(wide * high).fill(-1);
  const across = Int32Array.from(columns, (_, column) => Math.floor((column * wide) / columns.length));
  for (let row = 0, index = 0; row < rows.length; row += 1) {
    const start = Math.floor((row * high) / rows.length) * wide;
    for (let column = 0; column < columns.length; column += 1, index += 1) {
      const at = start + across[column];
      const size = Math.abs(values[index]);
      if (size > most[at]) {
        most[at] = size;
        pixels[at] = inks[index];
      }
    }
  }
  context.putImageData(image, 0, 0);
}
