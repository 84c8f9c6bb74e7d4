// What is drawn behind the points: axes, hulls, arrows and marks.

import {svg} from "../dom.js";
import {hullOf, lengthOf, plus, project} from "./projection.js";

export const SIZE = 100; // from the middle of the drawing to its border, in units of the drawing

/** Where a point is drawn; one that is too far out is drawn at the border, in its direction. */
export function spotOf(scene, at) {
  const [x, y] = toPage(scene, at);
  const far = Math.max(Math.abs(x), Math.abs(y)) / SIZE;
  return far > 1 ? [x / far, y / far] : [x, y];
}

/** Where a point is in the drawing. */
export function toPage(scene, at) {
  const [x, y] = project(scene.view, at);
  return [(x * SIZE) / scene.reach, (-y * SIZE) / scene.reach];
}

/** The axes: crossing each other in a plane, else from the origin, each with its number. */
export function axesOf(scene) {
  const lines = [];
  const isFlat = scene.dimensions === 2;
  for (let axis = 0; axis < scene.dimensions; axis += 1) {
    const tip = Array.from({length: scene.dimensions}, (_, i) => (i === axis ? scene.reach : 0));
    const [x, y] = toPage(scene, tip);
    const start = isFlat ? [-x, -y] : [0, 0];
    lines.push(svg("line", {class: "axis", x1: start[0], y1: start[1], x2: x, y2: y}));
    const away = 1 + 8 / (Math.hypot(x, y) || 1);
    const name = String(isFlat ? scene.reach : axis + 1);
    lines.push(svg("text", {class: "tick", x: x * away, y: y * away + 3, "text-anchor": "middle"}, name));
  }
  return [...(isFlat ? gridOf() : []), ...lines];
}

function gridOf() {
  const places = [-100, -80, -60, -40, -20, 20, 40, 60, 80, 100];
  return places.flatMap((place) => [
    svg("line", {class: "grid", x1: place, x2: place, y1: -SIZE, y2: SIZE}),
    svg("line", {class: "grid", x1: -SIZE, x2: SIZE, y1: place, y2: place}),
  ]);
}

/** A shape is {kind, rows, draw, name?}: the hull of the rows, an arrow between two, or one marked. */
export function shapeOf(scene, {kind, rows, draw = "hull", name = ""}) {
  if (draw === "arrow") return arrowOf(kind, ...rows.map((row) => spotOf(scene, row)), name);
  const spots = rows.map((row) => toPage(scene, row));
  return draw === "mark" ? [markOf(kind, spots[0])] : [svg("polygon", {class: kind, points: hullOf(spots).join(" ")})];
}

function arrowOf(kind, start, end, name) {
  const along = plus(end, start, -1);
  const length = lengthOf(along);
  if (length < 1e-6) return [];
  const [x, y] = along.map((part) => part / length);
  const head = Math.min(6, length);
  const wing = (side) => [end[0] - head * x - side * (head / 2) * y, end[1] - head * y + side * (head / 2) * x];
  return [
    svg("line", {class: kind, x1: start[0], y1: start[1], x2: end[0], y2: end[1]}),
    svg("polygon", {class: `${kind} head`, points: [end, wing(1), wing(-1)].join(" ")}),
    svg("text", {class: kind, x: (start[0] + end[0]) / 2 + 4, y: (start[1] + end[1]) / 2 + 3}, name),
  ];
}

function markOf(kind, [x, y]) {
  return svg("path", {class: kind, transform: `translate(${x} ${y})`, d: "M-5 0H5M0 -5V5"});
}
