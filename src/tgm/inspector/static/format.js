// Formats numbers and chooses colours.

// Colours that can be distinguished with any kind of colour vision (Okabe and Ito).
export const PALETTE = [
  "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a400", "#7f7f7f",
];

const ACTION_COLOURS = {
  up: "#0072b2", down: "#56b4e9", left: "#009e73", right: "#e69f00", eat: "#cc79a7",
};

// The colour of a curve; on a dark background the first one is lighter.
export function curveColour(index = 0) {
  return index === 0 && isDark() ? PALETTE[4] : PALETTE[index % PALETTE.length];
}

export const DIRECTIONS = { up: [0, 1], down: [0, -1], left: [-1, 0], right: [1, 0] };

export function actionColour(names, action) {
  return ACTION_COLOURS[names[action]] ?? PALETTE[action % PALETTE.length];
}

export function count(value) {
  return value === null || value === undefined ? "?" : Math.round(value).toLocaleString("en").replace("-", "−");
}

// "1 state", "2,000 states".
export function amount(value, word) { return `${count(value)} ${word}${value === 1 ? "" : "s"}`; }

// The number that `short` writes.
export function told(value) {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

export function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "?";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let words;
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) words = value.toExponential(1);
  else if (size >= 100) words = value.toFixed(0);
  else words = String(Number(value.toPrecision(digits)));
  return words.replace("-", "−");
}

export function fixed(value) {
  return value.toFixed(2).replace("-", "−");
}

export function percent(value) {
  return `${Math.round(100 * value)} %`;
}

// Sequential scales from low to high, for a light and a dark background.
const SCALES = {
  light: [[247, 244, 232], [205, 224, 205], [126, 186, 181], [47, 132, 150], [15, 76, 110]],
  dark: [[38, 44, 54], [38, 74, 92], [38, 110, 122], [83, 158, 146], [197, 220, 158]],
};

const DARK = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : DARK.matches;
}

function mix(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const part = at - low;
  return stops[low].map((value, index) => value + part * (stops[low + 1][index] - value));
}

export function sequential(share) {
  return mix(SCALES[isDark() ? "dark" : "light"], share);
}

// Equal steps look equally large, on any background and with any colour vision (viridis).
const UNIFORM = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];

export function uniform(share) { return mix(UNIFORM, share); }

// Blue for less, orange for more, the background colour for no change.
export function diverging(share) {
  const middle = isDark() ? [30, 35, 42] : [250, 250, 248];
  return mix([[0, 114, 178], middle, [213, 94, 0]], (share + 1) / 2);
}

export function css(rgb) {
  return `rgb(${rgb.map(Math.round).join(",")})`;
}

// Black or white text, whichever has more contrast with a colour: at least 4.5 to 1.
export function inkOn(rgb) {
  const linear = rgb.map((value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return light > 0.179 ? "#000000" : "#ffffff";
}

// Round numbers for an axis.
export function ticks(low, high, most = 7) {
  const span = high - low;
  if (!(span > 0)) return [low];
  let step = 10 ** Math.floor(Math.log10(span / most));
  for (const factor of [2, 2.5, 2]) if (span / step > most) step *= factor;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * span; at += step) {
    found.push(Math.abs(at) < 1e-9 * span ? 0 : Number(at.toPrecision(10)));
  }
  return found;
}
