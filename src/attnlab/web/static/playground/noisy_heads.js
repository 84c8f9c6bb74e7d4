// One head and two on noisy keys: what `attnlab attention solve heads` computes, drawn again at will.

import {getJson, h, showError, svg} from "../dom.js";
import {explanationOf} from "./explanation.js";

const FIELDS = [
  ["beta", "Scale β of the queries", 10],
  ["alpha", "Variance α of every key", 1e-6],
  ["length_variance", "Further variance λ of k_a", 0.5],
];
const ABOUT = "The mean of v_a and v_b is wanted. One head asks with the query β(μ_a + μ_b). Two heads ask with"
  + " βμ_a and with βμ_b, and their outputs are averaged.";
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [320, 200, 34, 30];

/** The section: settings, a button that draws new keys, figures and the table of spreads. */
export function noisyHeads(verdicts) {
  const fieldOf = (name, value) => h("input", {type: "number", step: "any", value, name});
  const inputs = FIELDS.map(([name, label, value]) => [name, label, fieldOf(name, value)]);
  const spread = h("p", {role: "status"});
  const result = h("div");
  let seed = 0;
  let draws = 0;
  const draw = async () => {
    draws += 1;
    const mine = draws;
    const asked = new URLSearchParams([...inputs.map(([name, , input]) => [name, input.value]), ["seed", seed]]);
    try {
      const explained = await getJson(`/api/playground/heads?${asked}`);
      if (mine !== draws) return; // a later one is on its way
      spread.textContent = spreadOf(explained.data.heads, seed);
      result.replaceChildren(h("div", {class: "figures"}, explained.panels.map(panelOf)),
        ...explanationOf(explained, {verdicts}));
    } catch (error) {
      spread.textContent = "";
      showError(result, error);
    }
  };
  const again = () => {
    seed += 1;
    return draw();
  };
  const element = h("section", {"aria-labelledby": "heads-title"},
    h("h2", {id: "heads-title"}, "One head or two, with noisy keys"),
    h("p", {}, ABOUT),
    h("div", {class: "controls"}, inputs.map(([, label, input]) => h("label", {}, label, input)),
      h("button", {type: "button", class: "primary", onclick: again}, "Draw again")),
    spread, result);
  inputs.forEach(([, , input]) => input.addEventListener("change", draw));
  return {element, draw};
}

function spreadOf(heads, seed) {
  const [one, two] = [heads[1], heads[2]].map(({deviation}) => deviation.toFixed(3));
  return `Seed ${seed}: the weight on v_a has a standard deviation of ${one} with one head and of ${two} with two.`;
}

function panelOf(panel) {
  const caption = panel.kind === "NoisyKey"
    ? "k_a of some draws, along μ_a and μ_b; crosses point away from μ_a"
    : panel.x_label.replaceAll("$", "");
  const drawn = panel.kind === "NoisyKey" ? dotsOf(panel) : histogramOf(panel);
  return h("figure", {}, svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": caption}, drawn),
    h("figcaption", {}, caption), panel.shares && legendOf(Object.keys(panel.shares)));
}

function legendOf(names) {
  return h("p", {class: "legend"}, names.map((name, i) => h("span", {class: `key-${i + 1}`}, name)));
}

function histogramOf({edges, shares, wanted}) {
  const most = Math.max(...Object.values(shares).flat());
  const x = scaleOf(0, 1, LEFT, WIDTH - 10);
  const y = scaleOf(0, most, HEIGHT - BOTTOM, 12);
  const outline = (numbers) => {
    const steps = numbers.flatMap((share, i) => [[x(edges[i]), y(share)], [x(edges[i + 1]), y(share)]]);
    return [[x(edges[0]), y(0)], ...steps, [x(edges.at(-1)), y(0)]].join(" ");
  };
  return [
    svg("line", {class: "mark", x1: x(wanted), x2: x(wanted), y1: 6, y2: HEIGHT - BOTTOM}),
    Object.values(shares).map((numbers, i) =>
      svg("polygon", {class: `share series-${i + 1}`, points: outline(numbers)})),
    axisOf(x, y, [0, 0.5, 1], [0, most]),
  ];
}

function dotsOf({draws, ignored}) {
  const flat = draws.map(([along]) => along);
  const across = Math.max(1.2, ...draws.map(([, b]) => Math.abs(b)));
  const x = scaleOf(Math.min(-0.5, ...flat), Math.max(2, ...flat), LEFT, WIDTH - 10);
  const y = scaleOf(-across, across, HEIGHT - BOTTOM, 12);
  const spot = ([a, b], i) => (ignored[i]
    ? svg("path", {class: "ignored", d: `M${x(a) - 3} ${y(b) - 3}l6 6m0 -6l-6 6`})
    : svg("circle", {class: "draw", cx: x(a), cy: y(b), r: 2}));
  return [...draws.map(spot), axisOf(x, y, [0, 1, 2], [-1, 0, 1])];
}

function axisOf(x, y, across, up) {
  const floor = HEIGHT - BOTTOM;
  const textOf = (tick) => String(Number(tick.toPrecision(2)));
  return [
    svg("line", {class: "axis", x1: LEFT, x2: WIDTH - 10, y1: floor, y2: floor}),
    across.map((tick) => svg("text", {x: x(tick), y: floor + 16, "text-anchor": "middle"}, textOf(tick))),
    up.map((tick) => svg("text", {x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end"}, textOf(tick))),
  ];
}

function scaleOf(low, high, start, end) {
  return (value) => start + ((value - low) / (high - low || 1)) * (end - start);
}
