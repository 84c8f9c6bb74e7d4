// What is on the board: keys, values and a query, and what attention makes of them.

import {dot, meanOf, weightsOf} from "./attention.js";
import {reachFor} from "./plane.js";

export const MOST_TOKENS = 10;
const LARGEST = 1e6;

/** Put an example on the board; without values the output is the weights. */
export function boardOf({keys, values, query}) {
  const board = {keys, values, query, temperature: 1, ticked: new Set(), chosen: "q", version: 0};
  return {...board, reach: {keys: reachFor(keys), values: values && reachFor(values)}};
}

/** Scores, weights and output, in double precision. */
export function attend({keys, values, query, temperature}) {
  const weights = weightsOf(keys, query, temperature);
  const scores = keys.map((key) => dot(key, query));
  return {scores, weights, output: values ? meanOf(values, weights) : weights};
}

/** The points by name: q, k0 …, v0 … */
export function pointsOf({keys, values, query}) {
  const named = (kind) => (at, token) => ({id: `${kind[0]}${token}`, label: `${kind} ${token}`, kind, token, at});
  const others = [...keys.map(named("key")), ...(values ?? []).map(named("value"))];
  return [...others, {id: "q", label: "query", kind: "query", at: query}]; // on top of the others
}

/** Move a point. Whatever is asked of the solver is about the keys and values, not the query. */
export function movePoint(board, id, at) {
  const bounded = at.map((x) => Math.min(LARGEST, Math.max(-LARGEST, x)));
  if (id === "q") {
    board.query = bounded;
    return;
  }
  const rows = id[0] === "k" ? "keys" : "values";
  board[rows] = board[rows].map((row, i) => (`${id[0]}${i}` === id ? bounded : row));
  board.version += 1;
  if (Math.max(...bounded.map(Math.abs)) > board.reach[rows]) board.reach[rows] = reachFor(board[rows]);
}

/** Set one coordinate of a point. */
export function moveAlong(board, id, axis, x) {
  const {at} = pointsOf(board).find((point) => point.id === id);
  movePoint(board, id, at.map((old, i) => (i === axis ? x : old)));
}

export function tickToken(board, token, isTicked) {
  if (isTicked) board.ticked.add(token);
  else board.ticked.delete(token);
}

export function addToken(board) {
  const place = (rows) => spotFor(board[rows].length, board[rows][0].length, 0.6 * board.reach[rows]);
  board.keys = [...board.keys, place("keys")];
  if (board.values) board.values = [...board.values, place("values")];
  board.version += 1;
}

// New points turn by the golden angle, so that no two of them share a place.
function spotFor(count, dimensions, radius) {
  const turn = count * Math.PI * (3 - Math.sqrt(5));
  const spot = [Math.cos(turn), Math.sin(turn)].map((x) => Number((radius * x).toPrecision(3)));
  return Array.from({length: dimensions}, (_, i) => spot[i] ?? 0);
}

export function removeToken(board, token) {
  const without = (rows) => rows && rows.filter((_, i) => i !== token);
  board.keys = without(board.keys);
  board.values = without(board.values);
  board.ticked = new Set([...board.ticked].filter((i) => i !== token).map((i) => (i > token ? i - 1 : i)));
  board.chosen = "q";
  board.version += 1;
}

/** Cut off coordinates, or add zeros. */
export function setDimensions(board, dimensions) {
  const sized = (row) => Array.from({length: dimensions}, (_, i) => row[i] ?? 0);
  board.keys = board.keys.map(sized);
  board.query = sized(board.query);
  if (board.values) board.values = board.values.map(sized);
  board.version += 1;
}

/** Without values, let each token's value be its key. */
export function addValues(board) {
  board.values = board.keys;
  board.reach.values = board.reach.keys;
  board.version += 1;
}
