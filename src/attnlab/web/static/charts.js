// Charts as SVG: curves over steps, and scores with their intervals.

import {h, svg} from "./dom.js";

const SHARES = ["accuracy", "f1"];
const CURVES = {width: 420, height: 250, left: 52, right: 10, top: 10, bottom: 40};
const INTERVALS = {width: 640, left: 200, right: 90, row: 34, bottom: 30, longest: 26};
const ON_A_PHONE = {...INTERVALS, width: 350, left: 100, right: 70, longest: 12};
const phone = matchMedia("(max-width: 44rem)");
const number = new Intl.NumberFormat("en", {maximumSignificantDigits: 4});

/** Draw one panel of training curves: {title, series: {split: [[step, value], …]}}. */
export function curves({title, series}) {
  const {width, height, left, right, top, bottom} = CURVES;
  const lines = Object.entries(series).filter(([, points]) => points.length);
  const all = lines.flatMap(([, points]) => points);
  const x = scale([0, Math.max(1, ...all.map(([step]) => step))], [left, width - right]);
  const y = scale(padded(all.map(([, value]) => value)), [height - bottom, top]);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": inWords(title, lines),
  }, axes(x, y), lines.map(([, points], i) => curve(points, x, y, `series-${i + 1}`)));
  const keys = lines.map(([name], i) => h("span", {class: `key-${i + 1}`}, name));
  return h("figure", {class: "panel"}, h("h3", {}, title), drawing,
    keys.length > 1 && h("figcaption", {class: "legend"}, keys));
}

function curve(points, x, y, look) {
  if (points.length === 1) {
    return svg("circle", {class: `${look} dot`, cx: x(points[0][0]), cy: y(points[0][1]), r: 4});
  }
  const places = points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`);
  return svg("polyline", {class: look, points: places.join(" ")});
}

function axes(x, y) {
  const {width, height, left, right, bottom} = CURVES;
  const label = (at, down, text) => svg("text", {x: at, y: down, "text-anchor": "middle"}, text);
  const tick = (at, down, text) => label(Math.min(at, width - 4 * text.length), down, text); // not cut off
  return svg("g", {},
    y.ticks.map((value) => [
      svg("line", {class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value)}),
      svg("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end"}, number.format(value)),
    ]),
    x.ticks.map((value) => tick(x(value), height - bottom + 18, number.format(value))),
    label((left + width - right) / 2, height - 4, "step"));
}

function inWords(title, lines) {
  const at = ([step, value]) => `${number.format(value)} at step ${number.format(step)}`;
  const ends = lines.map(([name, points]) => `${name}: ${at(points[0])}, ${at(points.at(-1))}`);
  return `${title}. ${ends.join("; ")}`;
}

/** Draw scores with their 95 % intervals: [{name, metric, value, interval, baseline}]. */
export function intervals(scores) {
  const size = phone.matches ? ON_A_PHONE : INTERVALS;
  const {width, right, row, bottom} = size;
  const longest = Math.max(...scores.map(({name}) => shortened(name, size.longest).length));
  const left = Math.min(size.left, 24 + 7.5 * longest);
  const height = row * scores.length + bottom;
  const areShares = scores.every(({metric}) => SHARES.includes(metric));
  const x = scale(areShares ? [0, 1] : padded(scores.flatMap(bounds)), [left, width - right]);
  const ticks = x.ticks.map((value) => [
    svg("line", {class: "grid", x1: x(value), x2: x(value), y1: 4, y2: height - bottom + 4}),
    svg("text", {x: x(value), y: height - 8, "text-anchor": "middle"},
      areShares ? `${Math.round(100 * value)} %` : number.format(value)),
  ]);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Scores with 95 % intervals. ${scores.map(scoreInWords).join("; ")}`,
  }, ticks, scores.map((score, i) => interval(score, x, row * (i + 0.5) + 4, size)));
  const guessing = scores.some(({baseline}) => baseline) && "; the red mark is what guessing scores";
  return h("figure", {class: "intervals"}, drawing,
    h("figcaption", {}, "Score (dot) with its 95 % interval (line)", guessing, "."));
}

function interval({name, metric, value, interval: [low, high], baseline}, x, y, size) {
  const guess = baseline && x(baseline.value);
  return svg("g", {},
    svg("text", {x: 0, y: y + 4}, shortened(name, size.longest)),
    svg("line", {class: "interval", x1: x(low), x2: x(high), y1: y, y2: y}),
    baseline && svg("line", {class: "guessing", x1: guess, x2: guess, y1: y - 9, y2: y + 9}),
    svg("circle", {class: "series-1 dot", cx: x(value), cy: y, r: 5}),
    svg("text", {x: size.width, y: y + 4, "text-anchor": "end"}, written(metric, value)));
}

function bounds({interval: both, value, baseline}) {
  return [...both, value, ...(baseline ? [baseline.value] : [])];
}

function scoreInWords({name, metric, value, interval: [low, high]}) {
  const [score, from, to] = [value, low, high].map((one) => written(metric, one));
  return `${name}: ${score}, interval ${from} to ${to}`;
}

function written(metric, value) {
  return SHARES.includes(metric) ? `${(100 * value).toFixed(1)} %` : number.format(value);
}

function shortened(name, longest) {
  const half = longest / 2 - 1;
  return name.length > longest ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
}

/** The range of some values with a little room; what is never negative starts at 0 or above. */
function padded(values) {
  if (!values.length) return [0, 1];
  const low = Math.min(...values), high = Math.max(...values);
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

/** A function from values to places, with the round values in between as its ticks. */
function scale([low, high], [from, to]) {
  const step = niceStep((high - low) / 4);
  const place = (value) => from + ((value - low) / (high - low)) * (to - from);
  place.ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) {
    place.ticks.push(i * step);
  }
  return place;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
}
