// An explanation as the command line gives it: verdict, sentences, facts, tables, further questions.

import {h} from "../dom.js";

/** Write numbers and vectors with four digits; the command line keeps infinity as null. */
export function written(value, digits = 4) {
  if (Array.isArray(value)) return `[${value.map((one) => written(one, digits)).join(", ")}]`;
  if (value === null) return "∞";
  return typeof value === "number" ? String(Number(value.toPrecision(digits))) : value;
}

/** Show an explanation; `onQuery(query)` is called by the button next to a query that it found. */
export function explanationOf(explained, {verdicts, onQuery}) {
  const shown = (part) => partOf(part, {verdicts, onQuery});
  return [
    h("h3", {}, headingOf(explained, verdicts)),
    ...explained.parts.map(shown),
    queryButton(explained, onQuery),
    explained.answer && shown(explained.answer),
  ].filter(Boolean);
}

function headingOf({question, verdict, detail}, verdicts) {
  return [question, verdict && [": ", verdictOf(verdict, verdicts)], detail && `: ${detail}`].filter(Boolean);
}

function verdictOf(verdict, verdicts) {
  const {words, color} = verdicts[verdict];
  return h("span", {class: {green: "good", red: "bad"}[color] ?? "quiet"}, words);
}

function partOf(part, options) {
  if (typeof part === "string") return h("p", {}, part);
  if (part.question !== undefined) return furtherOf(part, options);
  if (part.rows !== undefined) return tableOf(part, options.verdicts);
  return tableOf({columns: [], rows: Object.entries(part)}, options.verdicts);
}

/** A question on the way can be folded; one without a verdict is background, and is. */
function furtherOf(explained, {verdicts, onQuery}) {
  const open = explained.verdict !== null;
  const parts = [...explained.parts.map((part) => partOf(part, {verdicts, onQuery})), queryButton(explained, onQuery)];
  return h("details", {open}, h("summary", {}, headingOf(explained, verdicts)), parts);
}

function tableOf({columns, rows}, verdicts) {
  const cell = (value) => (verdicts[value] ? verdictOf(value, verdicts) : written(value));
  const head = columns.length > 0 && h("thead", {}, h("tr", {}, columns.map((name) => h("th", {scope: "col"}, name))));
  const body = rows.map(([first, ...rest]) => h("tr", {},
    first === "" ? h("td", {}) : h("th", {scope: "row"}, cell(first)), rest.map((value) => h("td", {}, cell(value)))));
  return h("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Table"},
    h("table", {class: columns.length ? "" : "facts"}, head, h("tbody", {}, body)));
}

function queryButton({data}, onQuery) {
  const query = data?.reached?.query;
  return query && onQuery && h("p", {}, h("button", {type: "button", onclick: () => onQuery(query)}, "Use this query"));
}
