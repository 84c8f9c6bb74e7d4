// Points of any number of dimensions on a flat page. A view is two rows of unit length at right
// angles, so that its transpose takes a movement on the page back to the points.

import {dot} from "./attention.js";

/** The view of so many dimensions: as they are, turned by two angles, or all axes as a star. */
export function viewOf(dimensions, {turn, tilt} = {}) {
  if (dimensions === 2) return [[1, 0], [0, 1]];
  if (dimensions === 3) return solidView(radians(turn), radians(tilt));
  const angles = Array.from({length: dimensions}, (_, i) => Math.PI / 2 + (2 * Math.PI * i) / dimensions);
  const size = Math.sqrt(2 / dimensions);
  return [angles.map((a) => size * Math.cos(a)), angles.map((a) => size * Math.sin(a))];
}

function solidView(turn, tilt) {
  const [s, c, up, flat] = [Math.sin(turn), Math.cos(turn), Math.sin(tilt), Math.cos(tilt)];
  return [[c, s, 0], [s * up, -c * up, flat]];
}

function radians(degrees) {
  return (degrees * Math.PI) / 180;
}

/** Where a point is on the page. */
export function project(view, point) {
  return view.map((row) => dot(row, point));
}

/** The shortest movement of a point that looks like this one on the page. */
export function lift(view, moved) {
  return view[0].map((_, axis) => view[0][axis] * moved[0] + view[1][axis] * moved[1]);
}

/** The corners of the convex hull of flat points, in order around it. */
export function hullOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (ordered) => {
    const chain = [];
    for (const point of ordered) {
      while (chain.length > 1 && turnOf(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  const corners = [...half(sorted), ...half([...sorted].reverse())];
  return corners.length ? corners : sorted.slice(0, 1);
}

function turnOf(a, b, c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/** Unit vectors at right angles to a direction and to each other, one fewer than dimensions. */
export function acrossOf(direction) {
  const found = [unit(direction)];
  for (let axis = 0; axis < direction.length && found.length < direction.length; axis += 1) {
    let rest = direction.map((_, i) => (i === axis ? 1 : 0));
    for (const known of found) rest = plus(rest, known, -dot(rest, known));
    if (dot(rest, rest) > 0.1) found.push(unit(rest));
  }
  return found.slice(1);
}

export function plus(a, b, scale = 1) {
  return a.map((x, i) => x + scale * b[i]);
}

export function lengthOf(vector) {
  return Math.hypot(...vector);
}

function unit(vector) {
  const length = lengthOf(vector) || 1;
  return vector.map((x) => x / length);
}

/** The pairs of points in space between which their convex hull has an edge. */
export function edgesOf(points) {
  const pairs = points.flatMap((_, i) => points.slice(0, i).map((_, j) => [j, i]));
  return pairs.filter(([i, j]) => isEdge(points, points[i], points[j]));
}

// Seen along an edge, both of its ends are one corner: all other points lie within less than 180°.
function isEdge(points, start, end) {
  const along = plus(end, start, -1);
  if (lengthOf(along) === 0) return false;
  const across = acrossOf(along);
  const seen = points.map((point) => project(across, plus(point, start, -1)));
  const size = Math.max(...seen.map(lengthOf));
  const angles = seen
    .filter((spot) => lengthOf(spot) > 1e-9 * size)
    .map(([x, y]) => Math.atan2(y, x))
    .sort((a, b) => a - b);
  const gaps = angles.map((angle, i) => (angles[i + 1] ?? angles[0] + 2 * Math.PI) - angle);
  return !gaps.length || Math.max(...gaps) > Math.PI + 1e-9;
}
