// The blocks of a report (headings, sentences, tables), as report/plain_blocks.py writes them.

import {h} from "./dom.js";

const LONG = 40;
const LONGISH = 24; // takes more than one line where the screen is narrow
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
  const isFacts = columns.length === 2;
  const cell = (text, i) => h("td", {class: lengthOf(text)}, isFacts && i === 0 ? breakable(text) : text);
  return scrolling(label ?? columns.join(", "), h("table", {class: isFacts && "facts"},
    h("thead", {}, h("tr", {}, columns.map(heading))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/** A dotted name that may take a new line after a dot or an underscore. */
function breakable(name) {
  return String(name).split(/(?<=[._])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
}

/** The class of a cell with much text; null for a short one. */
export function lengthOf(text) {
  const {length} = String(text);
  if (length > LONG) return "long";
  return length > LONGISH ? "longish" : null;
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
