// Makes elements. Text of a run is not trusted: it becomes text nodes and attributes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

// h("p", { class: "note" }, "text", element): an HTML element.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for SVG.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
}

// Whether one reason is all there is to draw for.
export function isOnly(reasons, name) { return reasons.size === 1 && reasons.has(name); }

// A small picture for a button, drawn with lines.
export function glyph(shape) {
  return s("svg", { width: 14, height: 14, viewBox: "0 0 14 14", class: "glyph line", "aria-hidden": "true" },
    s("path", { d: shape }));
}

// One node per key below `parent`: made for a new key, removed with its key.
export class Keyed {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.nodes = new Map();
  }

  update(items, key, change) {
    const gone = new Set(this.nodes.keys());
    for (const item of items) {
      const name = key(item);
      gone.delete(name);
      let node = this.nodes.get(name);
      if (!node) {
        node = this.make(item);
        this.nodes.set(name, node);
        this.parent.append(node);
      }
      change(node, item);
    }
    for (const name of gone) {
      this.nodes.get(name).remove();
      this.nodes.delete(name);
    }
  }
}

// A panel: a section with a title, a help text, controls and a body.
export function panel({ title, help, controls, legend, id, wide }, ...body) {
  return h("section", { class: `panel${wide ? " wide" : ""}`, id, "aria-label": title },
    h("header", { class: "panel-head" },
      h("h2", {}, title),
      help && h("button", { class: "help", type: "button", "data-tip": help,
        "aria-label": `How to read: ${title}. ${help}` }, "?"),
      h("span", { class: "spacer" }),
      controls),
    ...body,
    legend && h("footer", { class: "legend" }, legend));
}

export function legendItem(symbol, words, tip) {
  return h("span", { class: "legend-item", "data-tip": tip }, symbol, words);
}

// An element that is shown in worlds of "cells" only, or in worlds where the state "flows".
export function onlyIf(kind, element) {
  element.classList.add(`${kind}-only`);
  return element;
}

export function swatch(attributes) {
  const icon = s("svg", { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" });
  icon.append(s(attributes.tag ?? "line", { x1: 1, x2: 21, y1: 6, y2: 6, ...attributes }));
  return icon;
}

export function choice(label, options, value, onchange, tip) {
  const select = h("select", { "aria-label": label, "data-tip": tip,
    onchange: (event) => onchange(event.target.value) },
  options.map(([name, words]) => h("option", { value: name, selected: name === value }, words)));
  return h("label", { class: "control" }, h("span", {}, label), select);
}

// Selects that are made again when their options change: not while the user has one open. The focus
// stays where it was, so that the keyboard can go on.
export class Choices {
  constructor(className) {
    this.element = h("span", { class: className, onchange: () => { this.wasChosen = true; } });
  }

  // `make` gives the selects; the same `run` and `key` as before leave them as they are.
  update(run, key, make) {
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const isOther = run !== this.run || (key !== this.key && (!focused || this.wasChosen));
    if (!isOther) return;
    [this.run, this.key, this.wasChosen] = [run, key, false];
    this.element.replaceChildren(...make().filter(Boolean));
    const label = focused?.getAttribute("aria-label");
    [...this.element.querySelectorAll("select")].find((one) => one.getAttribute("aria-label") === label)?.focus();
  }
}

export function checkbox(label, checked, onchange, tip) {
  const box = h("input", { type: "checkbox", onchange: (event) => onchange(event.target.checked) });
  box.checked = checked;
  return h("label", { class: "control check", "data-tip": tip }, box, h("span", {}, label));
}

// One tooltip for all elements with `data-tip`; also shown for keyboard focus.
export function installTooltip(parent) {
  const tip = h("div", { id: "tooltip", role: "tooltip", hidden: true });
  parent.append(tip);
  const place = (x, y) => {
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(x + 14, window.innerWidth - width - 8);
    const top = y + 18 + height > window.innerHeight ? y - height - 10 : y + 18;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  };
  const show = (words, x, y) => {
    if (tip.textContent !== words) tip.textContent = words;
    tip.hidden = false;
    place(x, y);
  };
  document.addEventListener("mousemove", (event) => {
    const owner = event.target.closest?.("[data-tip]");
    if (owner) show(owner.getAttribute("data-tip"), event.clientX, event.clientY);
    else tip.hidden = true;
  });
  document.addEventListener("focusin", (event) => {
    const owner = event.target.closest?.("[data-tip]");
    if (!owner || !event.target.matches(":focus-visible")) return;
    const box = owner.getBoundingClientRect();
    show(owner.getAttribute("data-tip"), box.left, box.bottom - 10);
  });
  // A finger has no hover: a tap shows the tooltip of a help button.
  document.addEventListener("click", (event) => {
    const owner = event.target.closest?.(".help[data-tip]");
    if (!owner) return;
    const box = owner.getBoundingClientRect();
    show(owner.getAttribute("data-tip"), box.left, box.bottom - 10);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
  document.addEventListener("input", () => { tip.hidden = true; });
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("mouseleave", () => { tip.hidden = true; });
  window.addEventListener("resize", () => { tip.hidden = true; });
}
