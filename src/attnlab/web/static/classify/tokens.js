// Tokens coloured by what they were worth, and the same as a table.

import {scrolling} from "../blocks.js";
import {h} from "../dom.js";

const number = new Intl.NumberFormat("en", {maximumSignificantDigits: 3, signDisplay: "exceptZero"});

/** Tokens one after the other: green speaks for the class, red against it. */
export function colored(tokens, worth, isText) {
  const top = Math.max(...worth.map((one) => Math.abs(one ?? 0))) || 1;
  return h("p", {class: "colored"}, tokens.map((token, i) => h("span", {
    class: isText[i] ? (worth[i] ?? 0) >= 0 ? "for" : "against" : "frame",
    style: {"--share": (Math.abs(worth[i] ?? 0) / top).toFixed(3)},
    title: worth[i] === undefined ? null : number.format(worth[i]),
  }, `${token} `)));
}

/** Both numbers for every token, in the order of the text. */
export function worthTable(tokens, {gradient, falls}) {
  const label = "What each token was worth";
  const titles = ["Position", "Token", "Gradient × input", "Leave-one-out"];
  return scrolling(label, h("table", {},
    h("thead", {}, h("tr", {}, titles.map((one) => h("th", {scope: "col"}, one)))),
    h("tbody", {}, tokens.map((token, i) => h("tr", {},
      h("td", {}, i + 1), h("th", {scope: "row", class: "token-name"}, token),
      h("td", {}, h("data", {value: String(gradient[i])}, number.format(gradient[i]))),
      h("td", {}, falls[i] === undefined ? "–" : h("data", {value: String(falls[i])}, points(falls[i]))))))));
}

function points(fall) {
  return `${number.format(100 * fall)} points`;
}
