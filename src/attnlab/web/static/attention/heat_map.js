// One head as a heat map: a row per query, a column per key, and names where there is room for them.

import {largest} from "./colors.js";

const LARGEST_CELL = 26;
const SMALLEST_NAMED = 9;
const NAMES = 88; // the room that the names of tokens get
const EDGE = 8;
const LEGEND = 34;
const AXIS = 18;

/** Where everything of the figure is, in a width. */
export function heatLayout({rows, columns}, width) {
  const named = fit(rows, columns, width - NAMES - AXIS - EDGE);
  const hasNames = named >= SMALLEST_NAMED;
  const left = AXIS + (hasNames ? NAMES : EDGE), top = AXIS + (hasNames ? NAMES : EDGE);
  const cell = hasNames ? named : fit(rows, columns, width - left - EDGE);
  return {
    cell, hasNames, left, top,
    width: Math.max(left + columns * cell + EDGE, 300), height: top + rows * cell + EDGE + LEGEND,
  };
}

function fit(rows, columns, room) {
  const cell = Math.min(LARGEST_CELL, room / Math.max(rows, columns));
  return cell > 2 ? Math.floor(cell) : cell;
}

/** Paint the figure: `map` has the matrix, names of queries and keys, and the chosen query. */
export function paintHeatMap(painter, map, {layout, colors, picture}) {
  const {rows, columns, queries, keys, chosen, values, isWeights} = map;
  const {cell, hasNames, left, top, width, height} = layout;
  const quiet = {color: colors.quiet, size: 12};
  painter.box(0, 0, width, height, colors.paper);
  painter.image(picture, left, top, columns * cell, rows * cell);
  painter.text("key", left, AXIS / 2 + 2, quiet);
  painter.text("query", AXIS / 2, top, {...quiet, anchor: "end", turn: -90});
  if (hasNames) {
    const size = Math.min(12, cell);
    queries.forEach((name, i) => painter.text(shown(name), left - 5, top + (i + 0.5) * cell, {
      color: colors.ink, size, anchor: "end", bold: i === chosen,
    }));
    keys.forEach((name, i) => painter.text(shown(name), left + (i + 0.5) * cell, top - 5, {
      color: colors.ink, size, turn: -90,
    }));
  }
  painter.frame(left, top, columns * cell, rows * cell, colors.line);
  painter.frame(left, top + chosen * cell, columns * cell, Math.max(cell, 1), colors.ink);
  painter.box(left + columns * cell + 1, top + (chosen + 0.5) * cell - 3, 5, 6, colors.ink);
  painter.text(legendOf(values, isWeights), left, height - LEGEND / 2, quiet);
}

function legendOf(values, isWeights) {
  const top = largest(values);
  if (isWeights) return `no color: 0, full color: ${percent(top)}`;
  const isHidden = values.some((one) => !Number.isFinite(one));
  return `orange: −${top.toFixed(2)}, blue: ${top.toFixed(2)}${isHidden ? ", gray: hidden by the mask" : ""}`;
}

/** Which query and key are at a place of the figure; null beside them. */
export function cellAt({rows, columns}, {left, top, cell}, x, y) {
  const row = Math.floor((y - top) / cell), column = Math.floor((x - left) / cell);
  return row >= 0 && row < rows && column >= 0 && column < columns ? {row, column} : null;
}

/** A token's name with its blanks made visible, and not too long. */
export function shown(name) {
  const plain = name.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  return plain.length > 12 ? `${plain.slice(0, 11)}…` : plain;
}

export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
