// A plane with points to drag: by mouse, by touch, and by the arrow keys.

import {svg} from "../dom.js";
import {lengthOf, lift, plus, viewOf} from "./projection.js";
import {SIZE, axesOf, shapeOf, spotOf, toPage} from "./shapes.js";

const MARGIN = 14;
const CLOSE = [14, 8];
const STEPS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], PageDown: [2, -1], PageUp: [2, 1],
}; // by key: an axis, and where to

/** Make a plane. `onMove(id, at)` is called with the coordinates that a point is moved to. */
export function makePlane(label, {onMove, onSelect}) {
  const back = svg("g", {"aria-hidden": "true"});
  const front = svg("g", {});
  const edge = SIZE + MARGIN;
  const viewBox = `${-edge} ${-edge} ${2 * edge} ${2 * edge}`;
  const element = svg("svg", {viewBox, class: "plane", role: "group", "aria-label": label}, back, front);
  const handles = new Map();
  let scene = null;

  function draw(next) {
    const dimensions = next.points[0].at.length;
    scene = {...next, dimensions, view: viewOf(dimensions, next.angles)};
    back.replaceChildren(...axesOf(scene), ...scene.shapes.flatMap((shape) => shapeOf(scene, shape)));
    for (const [id, handle] of handles) {
      if (!scene.points.some((point) => point.id === id)) {
        handle.remove();
        handles.delete(id);
      }
    }
    for (const point of scene.points) placeHandle(point);
  }

  function placeHandle(point) {
    if (!handles.has(point.id)) {
      const handle = makeHandle(point.id);
      handles.set(point.id, handle);
      front.append(handle);
    }
    updateHandle(handles.get(point.id), point, scene);
  }

  function makeHandle(id) {
    const handle = svg("g", {tabindex: "0", role: "slider", "aria-roledescription": "point"},
      svg("circle", {class: "halo"}), svg("circle", {class: "grip", r: 12}),
      svg("circle", {class: "dot", r: 4.5}), svg("text", {"aria-hidden": "true"}));
    const point = () => scene.points.find((one) => one.id === id);
    handle.addEventListener("focus", () => onSelect(id));
    handle.addEventListener("keydown", (event) => moveByKey(event, point()));
    handle.addEventListener("pointerdown", (event) => startDrag(event, handle, point));
    return handle;
  }

  function moveByKey(event, point) {
    const [axis, sign] = STEPS[event.key] ?? [Infinity, 0];
    if (axis >= scene.dimensions) return;
    event.preventDefault();
    const step = (scene.reach / 50) * (event.shiftKey ? 5 : 1);
    onMove(point.id, point.at.map((x, i) => (i === axis ? tidy(x + sign * step, scene.reach) : x)));
  }

  function startDrag(event, handle, point) {
    if (event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    const grabbed = onPage(event);
    const start = spotOf(scene, point().at);
    const drag = (moved) => {
      const here = onPage(moved);
      const spot = [0, 1].map((i) => clamp(start[i] + here[i] - grabbed[i]));
      const before = toPage(scene, point().at);
      const by = [spot[0] - before[0], before[1] - spot[1]].map((x) => (x * scene.reach) / SIZE);
      const at = plus(point().at, lift(scene.view, by));
      onMove(point().id, at.map((x) => tidy(x, scene.reach)));
    };
    const end = () => {
      handle.removeEventListener("pointermove", drag);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    };
    handle.addEventListener("pointermove", drag);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }

  function onPage(event) {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(element.getScreenCTM().inverse());
    return [spot.x, spot.y];
  }

  return {element, draw};
}

/** A round number a little above the size of what is to be seen. */
export function reachFor(rows) {
  const size = 1.1 * Math.max(...rows.map(lengthOf)) || 1;
  const unit = 10 ** Math.floor(Math.log10(size));
  return [1, 1.5, 2, 3, 5, 7.5, 10].map((x) => x * unit).find((x) => x >= size * (1 - 1e-9));
}

function updateHandle(handle, point, scene) {
  const [x, y] = spotOf(scene, point.at);
  const isBeyond = lengthOf(plus(toPage(scene, point.at), [x, y], -1)) > 1e-9;
  handle.setAttribute("transform", `translate(${x} ${y})`);
  handle.setAttribute("class", `point ${point.kind}${point.chosen ? " chosen" : ""}${isBeyond ? " beyond" : ""}`);
  handle.setAttribute("aria-label", point.label);
  handle.setAttribute("aria-valuemin", -scene.reach);
  handle.setAttribute("aria-valuemax", scene.reach);
  handle.setAttribute("aria-valuenow", point.at[0]);
  handle.setAttribute("aria-valuetext", point.at.join(", "));
  const [halo, , , name] = handle.children;
  halo.setAttribute("r", 4.5 + 16 * Math.sqrt(point.weight ?? 0));
  name.textContent = point.id;
  const isBelow = y < -SIZE + 10 || isCrowded(point, scene);
  placeName(name, {isLeft: point.kind === "query" ? x > -SIZE + 14 : x > SIZE - 14, isBelow});
}

// Of two points of a kind so close that their names would meet, the later one has its name below.
function isCrowded(point, scene) {
  const [x, y] = spotOf(scene, point.at);
  const before = scene.points.slice(0, scene.points.indexOf(point)).filter(({kind}) => kind === point.kind);
  return before.some(({at}) => {
    const [otherX, otherY] = spotOf(scene, at);
    return Math.abs(x - otherX) < CLOSE[0] && Math.abs(y - otherY) < CLOSE[1];
  });
}

// The query's name is on the left: a key at the same place has its own on the right.
function placeName(name, {isLeft, isBelow}) {
  name.setAttribute("x", isLeft ? -8 : 8);
  name.setAttribute("text-anchor", isLeft ? "end" : "start");
  name.setAttribute("y", isBelow ? 12 : -7);
}

function clamp(x) {
  return Math.min(SIZE, Math.max(-SIZE, x));
}

// Rounded to about a thousandth of what is seen, so that coordinates stay short.
function tidy(x, reach) {
  return Number(x.toFixed(Math.min(100, Math.max(0, 3 - Math.floor(Math.log10(reach))))));
}
