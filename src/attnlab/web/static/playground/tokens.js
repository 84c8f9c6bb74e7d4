// The tokens: their scores and weights as bars, and what to ask of them.

import {h} from "../dom.js";
import {written} from "./explanation.js";

const COLUMNS = ["Token", "Score", "Weight", "", "Average", "", ""];

/** The table of tokens; `on` has what its buttons do: select(i), tick(i, is), remove(i). */
export function tokensTable(on) {
  const body = h("tbody", {});
  const titles = COLUMNS.map((name) => (name ? h("th", {scope: "col"}, name) : h("td", {})));
  const table = h("table", {}, h("thead", {}, h("tr", {}, titles)), body);
  const element = h("div", {class: "scroll tokens", tabindex: "0", role: "group", "aria-label": "Tokens"}, table);
  return {
    element,
    draw({scores, weights, ticked}) {
      const isOnly = weights.length === 1;
      while (body.rows.length > weights.length) body.rows[body.rows.length - 1].remove();
      while (body.rows.length < weights.length) body.append(rowOf(body.rows.length, on));
      weights.forEach((weight, i) => fill(body.rows[i], {score: scores[i], weight, isTicked: ticked.has(i), isOnly}));
    },
  };
}

function rowOf(i, on) {
  const tick = (event) => on.tick(i, event.target.checked);
  return h("tr", {},
    h("th", {scope: "row"}, String(i)),
    h("td", {class: "number"}),
    h("td", {class: "number"}, h("data", {})),
    h("td", {}, h("div", {class: "track"}, h("div", {class: "bar"}))),
    h("td", {}, h("input", {type: "checkbox", "aria-label": `Average token ${i}`, onchange: tick})),
    h("td", {}, h("button", {type: "button", "aria-label": `Select token ${i}`, onclick: () => on.select(i)}, "Select")),
    h("td", {}, h("button", {type: "button", "aria-label": `Remove token ${i}`, onclick: () => on.remove(i)}, "×")));
}

function fill(row, {score, weight, isTicked, isOnly}) {
  row.cells[1].textContent = written(score);
  const data = row.querySelector("data");
  data.value = String(weight);
  data.textContent = weight.toFixed(4);
  row.querySelector(".bar").style.setProperty("width", `${100 * weight}%`);
  row.querySelector("input").checked = isTicked;
  row.cells[6].firstChild.disabled = isOnly;
}
