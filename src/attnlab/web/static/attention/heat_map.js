// One head as a heat map: a row per query, a column per key, and names where there is room for them.

import {largest, pictureOf} from "./colors.js";

const LARGEST_CELL = 40;
const SMALLEST_NAMED = 9;
const NAMES = 88; // the most room that the names of tokens get
const LETTER = 7; // about as wide as one of them
const EDGE = 8;
const LEGEND = 34;
const BAR = 64; // of colors, in the legend
const AXIS = 18;

/** Where everything of the figure is, in a width. */
export function heatLayout({rows, columns, queries, keys}, width) {
  const names = roomFor([...queries, ...keys], NAMES);
  const named = fit(rows, columns, width - names - AXIS - EDGE);
  const hasNames = named >= SMALLEST_NAMED;
  const left = AXIS + (hasNames ? names : EDGE), top = AXIS + (hasNames ? names : EDGE);
  const cell = hasNames ? named : fit(rows, columns, width - left - EDGE);
  return {
    cell, hasNames, left, top,
    width: Math.max(left + columns * cell + EDGE, 300), height: top + rows * cell + EDGE + LEGEND,
  };
}

/** How much room some names get, at most `most`. */
export function roomFor(names, most) {
  return Math.min(most, EDGE + LETTER * Math.max(...names.map((name) => shown(name).length)));
}

function fit(rows, columns, room) {
  const cell = Math.min(LARGEST_CELL, room / Math.max(rows, columns));
  return cell > 2 ? Math.floor(cell) : cell;
}

/** Paint the figure: `map` has the matrix, names of queries and keys, and the chosen query. */
export function paintHeatMap(painter, map, {layout, colors, picture}) {
  const {rows, columns, queries, keys, chosen} = map;
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
  paintLegend(painter, map, {x: EDGE, y: height - LEGEND / 2, colors});
}

/** The colors from the smallest number to the largest, and the gray of what the mask hides. */
function paintLegend(painter, {values, isWeights}, {x, y, colors}) {
  const top = largest(values), low = isWeights ? 0 : -top;
  const [least, most] = isWeights ? ["0 %", percent(top)] : [`−${top.toFixed(2)}`, top.toFixed(2)];
  const scale = Float32Array.from({length: BAR}, (_, i) => low + ((top - low) * i) / (BAR - 1));
  const text = (words, at) => painter.text(words, at, y, {color: colors.quiet, size: 12});
  const start = x + LETTER * least.length + 6, end = start + BAR + 6;
  text(least, x);
  painter.image(pictureOf({values: scale, rows: 1, columns: BAR, isWeights}, colors), start, y - 5, BAR, 10);
  painter.frame(start, y - 5, BAR, 10, colors.line);
  text(most, end);
  if (!values.some((one) => !Number.isFinite(one))) return;
  const box = end + LETTER * most.length + 14;
  painter.box(box, y - 5, 10, 10, colors.line);
  text("hidden by the mask", box + 16);
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
