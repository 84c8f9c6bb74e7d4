// Every head at once: small pictures to choose from, by the pointer or the arrow keys.

import {h} from "../dom.js";
import {pictureOf, themeColors} from "./colors.js";

const MOVES = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

/** A row per layer with a button per head; `onchange(layer, head)` is called with a choice. */
export function headGrid(layers, onchange) {
  const buttons = layers.map((layer, i) => (
    Array.from({length: layer.n_heads}, (_, head) => buttonOf(layer, {i, head}, onchange))));
  const move = (event) => {
    const [down, right] = MOVES[event.key] ?? [];
    if (down === undefined) return;
    event.preventDefault();
    const {layer, head} = event.target.dataset;
    const next = buttons[Number(layer) + down]?.[Number(head) + right];
    next?.focus();
    next?.click();
  };
  const rows = layers.map((layer, i) => h("div", {class: "layer", role: "group", "aria-label": layer.name},
    h("span", {class: "quiet", "aria-hidden": "true"}, layer.name), h("div", {}, buttons[i])));
  const element = h("div", {class: "heads", role: "group", "aria-label": "Heads", onkeydown: move}, rows);
  return {
    element,
    choose(layer, head) {
      for (const button of buttons.flat()) {
        const isChosen = button === buttons[layer][head];
        button.setAttribute("aria-pressed", String(isChosen));
        button.tabIndex = isChosen ? 0 : -1;
      }
    },
    paint() {
      const colors = themeColors();
      layers.forEach((layer, i) => buttons[i].forEach((button, head) => paint(button, layer, head, colors)));
    },
  };
}

function buttonOf(layer, {i, head}, onchange) {
  const name = `${layer.name}, head ${head + 1}`;
  return h("button", {
    type: "button", title: `${name}${habitsOf(layer, head)}`, "aria-label": name, "aria-pressed": "false",
    "data-layer": i, "data-head": head, tabindex: "-1", onclick: () => onchange(i, head),
  }, h("canvas", {}));
}

function paint(button, {thumbnails: {rows, columns, pixels}}, head, colors) {
  const values = Float32Array.from(atob(pixels[head]), (one) => one.charCodeAt(0) / 255);
  const picture = pictureOf({values, rows, columns, isWeights: true}, colors);
  const canvas = button.firstChild;
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext("2d").drawImage(picture, 0, 0);
}

/** What a head mostly does, in words; nothing where queries and keys are not the same tokens. */
export function habitsOf({habits}, head) {
  if (!habits) return "";
  const share = (name) => {
    const percent = 100 * habits[name][head];
    return `${percent.toFixed(percent < 1 ? 1 : 0)} %`;
  };
  return `: on average ${share("itself")} of the weight goes to the token itself, ${share("previous")} to the one`
    + ` before, ${share("first")} to the first`;
}
