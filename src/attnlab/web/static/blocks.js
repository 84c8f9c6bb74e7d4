// The blocks of a report (headings, sentences, tables), as report/plain_blocks.py writes them.

import {h} from "./dom.js";

const LONG = 40;
const SHOW = {
  heading: ({text}) => h("h2", {}, text),
  sentences: ({lines, warning}) => (warning ? h("div", {class: "warning"}, list(lines)) : list(lines)),
  table: (block) => (block.shaded ? confusionMatrix(block) : table(block)),
};

export function blocks(all) {
  return all.map((block) => SHOW[block.kind](block));
}

export function list(lines) {
  return h("ul", {}, lines.map((line) => h("li", {}, line)));
}

/** A table of texts; two columns are names and values, which may take more than one line. */
export function table({columns, rows}, label) {
  const cell = (text) => h("td", {class: String(text).length > LONG ? "long" : null}, text);
  return scrolling(label ?? columns.join(", "), h("table", {class: columns.length === 2 && "facts"},
    h("thead", {}, h("tr", {}, columns.map(heading))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/** What is on the diagonal is right; every count is shaded by its share of the row. */
function confusionMatrix({columns, rows}) {
  return scrolling("Confusion matrix", h("table", {class: "shaded"},
    h("thead", {}, h("tr", {}, columns.map(heading))),
    h("tbody", {}, rows.map(([name, ...cells], row) => {
      const counts = cells.map((cell) => Number(cell.replaceAll(",", "")));
      const total = counts.reduce((sum, one) => sum + one, 0) || 1;
      return h("tr", {}, h("th", {scope: "row"}, name), cells.map((cell, column) => h("td", {
        class: row === column ? "right" : "wrong",
        style: {"--share": (counts[column] / total).toFixed(3)},
      }, cell)));
    }))));
}

/** A column's heading; an empty one is no heading. */
function heading(text) {
  return text ? h("th", {scope: "col"}, text) : h("td", {});
}

/** A box that scrolls sideways where the screen is narrow, also by the keyboard. */
export function scrolling(label, content) {
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label}, content);
}
