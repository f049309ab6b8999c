// Saves pictures as SVG or PNG and tables as CSV, as files of the browser; nothing is sent anywhere.

import { h, s } from "./dom.js";
import { bestOf, valueOf } from "./planner.js";

const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "fill-opacity", "stroke-opacity", "font-size", "font-family", "font-weight", "font-style", "text-anchor",
  "paint-order", "display"];
const WORDS = ["story", "why", "health", "health-brief", "what-if"]; // panels of words only
const PIXELS = 2; // of a PNG, for each of the screen

// A button in the head of each panel that holds something to save, and the dialog it opens.
export function installExports(ctx) {
  const list = h("div", { class: "save-list" });
  const box = h("dialog", { class: "help-box", "aria-label": "Save" }, h("h2", {}, "Save"), list,
    h("form", { method: "dialog" }, h("button", {}, "close")));
  document.body.append(box);
  for (const panel of document.querySelectorAll(".panel[id]")) {
    if (WORDS.includes(panel.id)) continue;
    const title = panel.querySelector("h2").textContent;
    const open = () => {
      const choices = choicesOf(ctx, panel);
      list.replaceChildren(...choices.map(([words, save]) => h("button", { type: "button", onclick: async () => {
        box.close();
        const { name, blob } = await save();
        download(`${fileName(ctx, panel)}${name}`, blob);
      } }, words)), choices.length ? "" : "There is nothing to save here yet.");
      box.showModal();
    };
    const help = panel.querySelector(".help");
    const button = h("button", { type: "button", class: "help save", "aria-label": `Save: ${title}`,
      "data-tip": "save as a picture or a table", onclick: open }, "↓");
    (help ?? panel.querySelector("h2")).after(button);
  }
}

function fileName({ summary, step }, panel) {
  const words = `${summary?.name ?? "tgm"}-${panel.id || "panel"}-${step}`;
  return words.replaceAll(/[^\w.-]+/g, "_").slice(0, 100);
}

function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// [[words, save]]: what a panel holds; save() resolves to { name, blob }.
function choicesOf(ctx, panel) {
  const found = [];
  const seen = (element) => element && element.clientWidth > 0;
  const svg = panel.querySelector("svg.space, svg.lineage, .figure > svg:not(.floor-plan)");
  const plot = panel.querySelector(".js-plotly-plot");
  const matrices = [...panel.querySelectorAll("canvas.matrix")].filter((canvas) => seen(canvas) && canvas.picture);
  const table = panel.querySelector("table");
  const steps = panel.querySelector("ol.steps");
  const bars = panel.querySelector(".bars");
  if (seen(svg?.parentElement) && svg.style.display !== "none" && svg.hasChildNodes()) {
    found.push(["picture as SVG", async () => ({ name: ".svg", blob: svgBlob(svg) })],
      ["picture as PNG", async () => ({ name: ".png", blob: await pngOf(svg) })]);
    if (svg.matches(".space") && ctx.frame) {
      found.push(["states as CSV", async () => ({ name: "-states.csv", blob: csv(stateRows(ctx)) })]);
    }
  }
  if (seen(plot)) {
    for (const format of ["svg", "png"]) {
      found.push([`picture as ${format.toUpperCase()}`, async () => ({ name: `.${format}`, blob: await plotBlob(plot, format) })]);
    }
    found.push(["curves as CSV", async () => ({ name: ".csv", blob: csv(curveRows(plot)) })]);
  }
  if (matrices.length) {
    found.push(["picture as PNG", async () => ({ name: ".png", blob: await matrixPng(matrices) })],
      ["picture as SVG", async () => ({ name: ".svg", blob: matrixSvg(matrices) })],
      ["cells as CSV", async () => ({ name: ".csv", blob: csv(matrixRows(matrices)) })]);
  }
  if (seen(table) && table.rows.length > 1) {
    found.push(["table as CSV", async () => ({ name: "-table.csv", blob: csv(tableRows(table)) })]);
  }
  if (panel.id === "states" && ctx.frame) { // the table has some of them only
    found.push(["all states as CSV", async () => ({ name: "-all.csv", blob: csv(stateRows(ctx)) })]);
  }
  if (bars?.hasChildNodes()) {
    found.push(["bars as CSV", async () => ({ name: ".csv", blob: csv(barRows(bars)) })]);
  }
  if (seen(steps) && steps.hasChildNodes()) {
    found.push(["steps as CSV", async () => ({ name: ".csv", blob: csv(stepRows(ctx)) })]);
  }
  return found;
}

// --- pictures ------------------------------------------------------------------------------------------

// A copy of an element, with the look that the page's style gives it.
function styled(element) {
  const copy = element.cloneNode(true);
  const [from, to] = [element, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((one, index) => {
    const style = getComputedStyle(one);
    for (const name of LOOK) to[index].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "data-tip", "style"]) to[index].removeAttribute(name);
  });
  return copy;
}

// The drawing with what lies below it: the colour of its panel, a floor, pixels.
function standalone(svg) {
  const copy = styled(svg);
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
  const below = [s("rect", { width, height, fill: ground })];
  const floor = svg.parentElement.querySelector(".floor-plan");
  if (floor) below.push(s("g", {}, [...styled(floor).childNodes]));
  for (const canvas of svg.parentElement.querySelectorAll("canvas")) {
    if (!canvas.width) continue;
    const [box, own] = [canvas.getBoundingClientRect(), svg.getBoundingClientRect()];
    const seen = (canvas.closest(".field-window") ?? canvas).getBoundingClientRect(); // it cuts what is larger
    below.push(s("svg", { x: seen.left - own.left, y: seen.top - own.top, width: seen.width, height: seen.height },
      s("image", { x: box.left - seen.left, y: box.top - seen.top, width: box.width, height: box.height,
        href: canvas.toDataURL(), preserveAspectRatio: "none" })));
  }
  copy.prepend(...below);
  return new XMLSerializer().serializeToString(copy);
}

function svgBlob(svg) { return new Blob([standalone(svg)], { type: "image/svg+xml" }); }

async function pngOf(svg) {
  const image = new Image();
  const url = URL.createObjectURL(svgBlob(svg));
  try {
    image.src = url;
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  const canvas = h("canvas", { width: PIXELS * image.width, height: PIXELS * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

async function plotBlob(plot, format) {
  const { width, height } = plot.getBoundingClientRect();
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
  const layout = { ...plot.layout, paper_bgcolor: ground };
  const url = await window.Plotly.toImage({ data: plot.data, layout }, { format, width, height, scale: format === "png" ? PIXELS : 1 });
  const [head, body] = [url.slice(0, url.indexOf(",")), url.slice(url.indexOf(",") + 1)];
  const bytes = head.endsWith("base64") ? Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0))
    : decodeURIComponent(body);
  return new Blob([bytes], { type: format === "png" ? "image/png" : "image/svg+xml" });
}

// The matrices in a row, with their names; a cell has at least four pixels.
function matrixPlaces(matrices) {
  let left = 0;
  return matrices.map((canvas) => {
    const scale = Math.max(1, Math.ceil(240 / canvas.width));
    const place = { canvas, left, width: canvas.width * scale, height: canvas.height * scale };
    left += place.width + 20;
    return place;
  });
}

async function matrixPng(matrices) {
  const places = matrixPlaces(matrices);
  const canvas = h("canvas", { width: Math.min(16000, places.at(-1).left + places.at(-1).width),
    height: 24 + Math.max(...places.map(({ height }) => height)) });
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#17212b";
  context.font = "14px sans-serif";
  for (const place of places) {
    context.fillText(place.canvas.picture.title, place.left, 16);
    context.drawImage(place.canvas, place.left, 24, place.width, place.height);
  }
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

function matrixSvg(matrices) {
  const places = matrixPlaces(matrices);
  const width = places.at(-1).left + places.at(-1).width;
  const height = 24 + Math.max(...places.map((place) => place.height));
  const picture = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
    s("rect", { width, height, fill: "#ffffff" }), places.map((place) => [
      s("text", { x: place.left, y: 16, "font-family": "sans-serif", "font-size": 14 }, place.canvas.picture.title),
      s("image", { x: place.left, y: 24, width: place.width, height: place.height, href: place.canvas.toDataURL(),
        "image-rendering": "pixelated" })]));
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
}

// --- tables --------------------------------------------------------------------------------------------

function csv(rows) { return new Blob([csvText(rows)], { type: "text/csv" }); }

export function csvText(rows) { return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join(""); }

// A text of a run must not become a formula where the file is opened.
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const plain = String(value).replaceAll("−", "-");
  const words = /^-?\d{1,3}(,\d{3})+$/.test(plain) ? plain.replaceAll(",", "") : plain;
  const isNumber = words !== "" && Number.isFinite(Number(words));
  const safe = !isNumber && /^[=+\-@\t\r]/.test(words) ? `'${words}` : words;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function tableRows(table) {
  const words = (cell) => cell.innerText.replace(/ [▲▼]$/, "").trim().replace(/^–$/, ""); // what is not known is empty
  return [...table.rows].map((row) => [...row.cells].map((cell) => (
    "value" in cell.dataset ? Number(cell.dataset.value) : words(cell))));
}

function barRows(bars) {
  return [["name", "value", "outcome"], ...[...bars.children].map((bar) => [bar.querySelector(".name").textContent,
    "value" in bar.dataset ? Number(bar.dataset.value) : null, bar.querySelector(".outlook")?.textContent])];
}

function curveRows(plot) {
  const rows = [["curve", "x", "y"]];
  for (const trace of plot.data) {
    if (trace.fill === "toself") continue; // a band: its ends are not curves
    trace.x.forEach((x, index) => rows.push([trace.name ?? "", x, trace.y[index]]));
  }
  return rows;
}

function matrixRows(matrices) {
  const rows = [["matrix", "row", "column", "value"]];
  for (const { picture } of matrices) {
    picture.values.forEach((value, index) => {
      if (!value || Number.isNaN(value)) return; // zeros and what was never tried are left out
      const column = index % picture.columns.length;
      rows.push([picture.title, picture.rows[(index - column) / picture.columns.length].words,
        picture.columns[column].words, value]);
    });
  }
  return rows;
}

function stateRows(ctx) {
  const rows = [["state", "points", "fixed", "value", "best action", ...ctx.featureNames]];
  for (const { id, weight, fixed, mean } of ctx.frame.components.values()) {
    const best = bestOf(ctx.plan, id);
    rows.push([id, weight, fixed ? "yes" : "no", valueOf(ctx.plan, id), best < 0 ? "" : ctx.actionNames[best], ...mean]);
  }
  return rows;
}

function stepRows(ctx) {
  const rows = [["step", "episode", "action", "state", "reward", "end", ...ctx.featureNames]];
  for (const { step, episode, action, state, reward, end, point } of ctx.episode) {
    rows.push([step, episode, action < 0 ? "" : ctx.actionNames[action], state < 0 ? "" : state, reward, end, ...point]);
  }
  return rows;
}
