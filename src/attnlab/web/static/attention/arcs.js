// One head as arcs: queries on the left, keys on the right, a line as strong as the weight.

import {roomFor, shown} from "./heat_map.js";

const NAMES = 110; // the most room that they get, on either side
const TITLE = 40; // and the least, for the word above them
const EDGE = 10;
const MOST_LINES = 2000;
const MOST_OF_CHOSEN = 40;
const FAINTEST = 0.02; // a share of the weight that is still drawn, but for the chosen query
const found = new WeakMap(); // lines by the numbers they are of: another token is chosen often

/** Where everything of the figure is, in a width. */
export function arcsLayout({rows, columns, queries, keys}, width) {
  const names = Math.max(TITLE, roomFor([...queries, ...keys], NAMES));
  const step = Math.max(rows, columns) > 200 ? 12 : 18;
  return {
    step, left: names, right: Math.min(width, 560) - names,
    width: Math.min(width, 560), height: Math.max(rows, columns) * step + 2 * EDGE + 20,
  };
}

export function paintArcs(painter, map, {layout, colors}) {
  const {queries, keys, chosen} = map;
  const {step, left, right, width, height} = layout;
  const place = (i) => heightOf(layout, i);
  const size = Math.min(12, step - 2);
  painter.box(0, 0, width, height, colors.paper);
  painter.text("query", left - 6, EDGE, {color: colors.quiet, size: 12, anchor: "end"});
  painter.text("key", right + 6, EDGE, {color: colors.quiet, size: 12});
  for (const {row, column, weight} of linesOf(map)) {
    const isChosen = row === chosen;
    painter.curve(left, place(row), right, place(column), {
      color: isChosen ? colors["series-2"] : colors["series-1"],
      alpha: isChosen ? 0.25 + 0.75 * weight : 0.6 * weight, width: 0.8 + 2.2 * weight,
    });
  }
  queries.forEach((name, i) => painter.text(shown(name), left - 6, place(i), {
    color: colors.ink, size, anchor: "end", bold: i === chosen,
  }));
  keys.forEach((name, i) => painter.text(shown(name), right + 6, place(i), {color: colors.ink, size}));
}

/** The strongest lines of every query; those of the chosen one last, over all others. */
function linesOf(map) {
  const {values, rows, chosen} = map;
  if (!found.has(values)) {
    const each = Math.max(1, Math.floor(MOST_LINES / rows));
    found.set(values, Array.from({length: rows}, (_, row) => (
      linesFrom(map, row, each).filter(({weight}) => weight >= FAINTEST))));
  }
  const others = found.get(values).filter((_, row) => row !== chosen);
  return [...others.flat(), ...linesFrom(map, chosen, MOST_OF_CHOSEN)];
}

function linesFrom({values, columns}, row, count) {
  const weights = values.subarray(row * columns, (row + 1) * columns);
  return strongest(weights, count).filter(({weight}) => weight > 0).map((one) => ({...one, row}));
}

/** The largest of some weights with their places, the largest first. */
export function strongest(weights, count) {
  return Array.from(weights, (weight, column) => ({column, weight}))
    .sort((a, b) => b.weight - a.weight || a.column - b.column).slice(0, count);
}

/** How far down a token is. */
export function heightOf({step}, i) {
  return EDGE + 20 + (i + 0.5) * step;
}

/** Which query is at a height of the figure; null beside them. */
export function queryAt({rows}, {step, left}, x, y) {
  const row = Math.floor((y - EDGE - 20) / step);
  return x <= left && row >= 0 && row < rows ? row : null;
}
