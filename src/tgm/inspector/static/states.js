// Which states are drawn, and the numbers that drawings share.

import { count } from "./format.js";

const MOST_STATES = 2000; // drawn at most
export const SHARP = 10; // pixels: the radius of a state without any width
export const FAR = 1e5; // pixels: outside every screen
export const NO_MODEL = "No model is recorded at this step.";

// A number of pixels that SVG can draw.
export function bounded(pixels) {
  if (pixels >= -FAR && pixels <= FAR) return pixels;
  return pixels > 0 ? FAR : -FAR;
}

let kept = {}; // the last answer: all drawings of a step ask for it

// The states to draw: those with the most points, and the selected one, if there are very many.
export function drawnStates({ frame, selected }) {
  if (frame && kept.frame === frame && kept.selected === selected) return kept.states;
  kept = { frame, selected, states: chosenStates(frame, selected) };
  return kept.states;
}

function chosenStates(frame, selected) {
  const all = frame ? [...frame.components.values()] : [];
  if (all.length <= MOST_STATES) return all;
  const heaviest = all.sort((a, b) => b.weight - a.weight).slice(0, MOST_STATES);
  const chosen = frame.components.get(selected);
  return chosen && !heaviest.includes(chosen) ? [...heaviest, chosen] : heaviest;
}

// In a world that flows: whether the agent was near a support point, or laws lead there.
export function isVisited(component) { return component.weight > 0; }

// The radius of a state that is no ellipse: a support point, or a name without any width; else 0.
export function sizeOf(component, flows) {
  if (flows) return isVisited(component) ? 2.2 : 1.4;
  return component.cov.every((value) => value === 0) ? SHARP : 0;
}

// What a drawing says if it does not show all of `size` states.
export function cutWords(size) {
  return size > MOST_STATES ? `${count(MOST_STATES)} of ${count(size)} states drawn` : "";
}

// States that look exactly alike, told apart by what happens next: Map of id -> { place, of, ids }.
export function twinsOf(frame) {
  const looks = new Map();
  for (const { id, mean } of frame?.components.values() ?? []) {
    const look = mean.join();
    if (looks.has(look)) looks.get(look).push(id);
    else looks.set(look, [id]);
  }
  const twins = new Map();
  for (const ids of looks.values()) {
    if (ids.length > 1) ids.sort((a, b) => a - b).forEach((id, place) => twins.set(id, { place, of: ids.length, ids }));
  }
  return twins;
}
