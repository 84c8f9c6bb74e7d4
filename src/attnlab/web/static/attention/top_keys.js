// The keys that get most of a query's weight.

import {scrolling} from "../blocks.js";
import {h} from "../dom.js";
import {strongest} from "./arcs.js";
import {percent, shown} from "./heat_map.js";

const COUNT = 10;
const COLUMNS = ["Key", "Position", "Weight", ""];

/** A table for the chosen query of a map of weights; the longest bar is that of the largest weight. */
export function topKeys({values, columns, keys, chosen, queries, n_learned: learned}) {
  const best = strongest(values.subarray(chosen * columns, (chosen + 1) * columns), COUNT);
  const label = `Top keys of ${shown(queries[chosen])}, token ${chosen + 1}`;
  const titles = COLUMNS.map((name) => (name ? h("th", {scope: "col"}, name) : h("td", {})));
  return h("div", {}, h("h3", {}, label), scrolling(label, h("table", {},
    h("thead", {}, h("tr", {}, titles)),
    h("tbody", {}, best.map(({column, weight}) => h("tr", {},
      h("th", {scope: "row", class: "token-name"}, shown(keys[column])),
      h("td", {}, column < learned ? "learned" : column - learned + 1),
      h("td", {}, h("data", {value: String(weight)}, percent(weight))),
      h("td", {}, share(weight / (best[0].weight || 1)))))))));
}

/** The same in one sentence, for those who hear the page. */
export function bestOf({values, columns, keys, chosen, queries}) {
  const [{column, weight}] = strongest(values.subarray(chosen * columns, (chosen + 1) * columns), 1);
  return `Token ${chosen + 1}, ${queries[chosen]}, looks most at ${keys[column]}: ${percent(weight)}.`;
}

/** A bar as long as a share. */
export function share(value) {
  const width = `${100 * Math.min(1, Math.max(0, value))}%`;
  return h("div", {class: "share-track"}, h("div", {style: {width}}));
}
