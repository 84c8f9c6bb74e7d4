// Stored predictions of a run, page by page.

import {table} from "./blocks.js";
import {getJson, h, showError} from "./dom.js";

const COUNT = 20;
const FIRST = ["test", "dev", "held_out"];
const number = new Intl.NumberFormat("en");

export function predictions(name, splits) {
  const first = FIRST.find((one) => splits.includes(one)) ?? splits[0];
  const state = {split: first, only_wrong: false, start: 0};
  const place = h("div", {"aria-live": "polite"});
  const change = async (what) => {
    Object.assign(state, what);
    const query = new URLSearchParams({name, count: COUNT, ...state});
    try {
      const found = await getJson(`/api/runs/answers?${query}`);
      place.replaceChildren(...shown(found, state.start, change));
    } catch (error) {
      showError(place, error);
    }
  };
  change({});
  return h("section", {}, h("h2", {}, "Predictions"), controls(splits, first, change), place);
}

function controls(splits, first, change) {
  return h("div", {class: "controls"},
    h("label", {}, "Split", h("select", {
      onchange: ({target}) => change({split: target.value, start: 0}),
    }, splits.map((one) => h("option", {value: one, selected: one === first}, one)))),
    h("label", {class: "inline"}, h("input", {
      type: "checkbox", onchange: ({target}) => change({only_wrong: target.checked, start: 0}),
    }), "Only wrong ones"));
}

function shown({n, n_wrong: wrong, n_shown: total, rows}, start, change) {
  const end = start + rows.length;
  const range = total ? `${start + 1}–${end} of ${number.format(total)}` : "None";
  const share = wrong === null ? "" : `; ${number.format(wrong)} of ${number.format(n)} are wrong`;
  const turn = (text, to, isThere) =>
    h("button", {type: "button", disabled: !isThere, onclick: () => change({start: to})}, text);
  return [
    h("p", {class: "quiet"}, `${range}${share}.`),
    table(rows.length && "prediction" in rows[0] ? answers(rows) : losses(rows), "Predictions"),
    h("div", {class: "controls"}, turn("Previous", Math.max(0, start - COUNT), start > 0),
      turn("Next", start + COUNT, end < total)),
  ];
}

function answers(rows) {
  const mark = ({gold, prediction}) => (gold === prediction ? "✓ right" : "✗ wrong");
  return {
    columns: ["", "input", "prediction", "truth", "confidence"],
    rows: rows.map((row) => [row.gold === undefined ? "" : mark(row), row.input, row.prediction,
      row.gold ?? "–", `${Math.round(100 * row.confidence)} %`]),
  };
}

function losses(rows) {
  return {
    columns: ["text", "loss", "tokens"],
    rows: rows.map(({input, loss, tokens}) => [input, loss.toFixed(3), tokens]),
  };
}
