// What the solver found, as shapes among the keys: where two means meet, or the half-plane that
// leaves the wanted keys at its border.

import {meanOf} from "./attention.js";
import {acrossOf, plus} from "./projection.js";

const SOME = 1e-12;

/** The shapes of an answer, and one line that says what they are. */
export function proofOf({solution}, keys, reach) {
  if (solution.certificate) return meetingOf(solution.certificate.dependency, keys);
  const {direction, margin} = solution.path;
  const dimensions = direction.length;
  if (dimensions > 3 || !direction.some(Boolean)) return {shapes: [], caption: ""};
  return halfSpaceOf(keys.filter((_, i) => solution.target[i] > 0), {direction, margin, reach});
}

/** Numbers c with Σ c = 0 and Σ c k = 0 say that a mean of some keys is a mean of others. */
function meetingOf(dependency, keys) {
  const side = (sign) => dependency.map((c) => Math.max(sign * c, 0));
  const namesOf = (shares) => shares.flatMap((c, i) => (c > SOME ? [`k${i}`] : [])).join(", ");
  const rowsOf = (shares) => keys.filter((_, i) => shares[i] > SOME);
  const [others, wanted] = [side(1), side(-1)];
  const total = others.reduce((sum, c) => sum + c, 0);
  const spot = meanOf(keys, others.map((c) => c / total));
  const shapes = [
    {kind: "others", rows: rowsOf(others)},
    {kind: "wanted", rows: rowsOf(wanted)},
    {kind: "meeting", rows: [spot], draw: "mark"},
  ];
  const isOne = wanted.filter((c) => c > SOME).length === 1;
  const caption = isOne
    ? `${namesOf(wanted)} lies in the hull of ${namesOf(others)}.`
    : `The hulls of ${namesOf(wanted)} and of ${namesOf(others)} meet at the cross.`;
  return {shapes, caption};
}

/** Along u the wanted keys score highest; the next key is a margin below. */
function halfSpaceOf(wanted, {direction, margin, reach}) {
  const centre = meanOf(wanted, wanted.map(() => 1 / wanted.length));
  const isFlat = direction.length === 2;
  const size = isFlat ? 4 * reach : 0.6 * reach;
  const border = patchOf(centre, direction, size);
  const shifted = (corners, by) => corners.map((corner) => plus(corner, direction, by));
  const next = shifted(border, -margin);
  const shapes = [
    {kind: "border", rows: border},
    {kind: "lower", rows: isFlat ? [...next, ...shifted(next, -2 * size)] : next},
    {kind: "direction", rows: [centre, ...shifted([centre], 0.3 * reach)], draw: "arrow", name: "u"},
  ];
  const where = isFlat ? "shaded half-plane" : "half-space beyond the dashed square";
  return {shapes, caption: `Along u the wanted keys score highest; all others lie in the ${where}.`};
}

/** The corners of a square at right angles to a direction; in a plane, the ends of a line. */
function patchOf(centre, direction, size) {
  let corners = [centre];
  for (const across of acrossOf(direction)) {
    corners = corners.flatMap((corner) => [plus(corner, across, size), plus(corner, across, -size)]);
  }
  return corners;
}
