// The list of runs and studies: sort, filter, unfold, choose some to compare.

import {list, scrolling} from "../blocks.js";
import {getJson, h, showError} from "../dom.js";

export const title = "Runs";

const REFRESH = 5000;
const COLUMNS = {
  name: "Name", job: "Job", model: "Model", score: "Score [95 %]", state: "State", changed: "Age",
};
const LARGEST_FIRST = ["score", "changed"];
const LESS_IS_BETTER = ["perplexity", "bits_per_character"];
const STATES = ["", "running", "finished", "stopped", "failed"];
const UNITS = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];

/** The address of a run's page. */
export function pageOf(name) {
  return `#/runs/${name.split("/").map(encodeURIComponent).join("/")}`;
}

export async function render(root, {query}) {
  const state = {
    sort: "changed", down: true, predictions: false, chosen: new Set(), open: new Set(),
    text: query.get("text") ?? "", job: query.get("job") ?? "", state: query.get("state") ?? "",
    data: await getJson("/api/runs"),
  };
  const change = (what) => {
    Object.assign(state, what);
    draw(place, state, change);
  };
  const place = {
    jobs: h("select", {onchange: ({target}) => change({job: target.value})}),
    compare: h("button", {type: "button", class: "primary", onclick: () => compare(state)}),
    count: h("p", {class: "quiet", role: "status"}),
    problems: h("div"), head: h("tr"), body: h("tbody"),
  };
  root.append(h("h1", {}, "Runs"), controls(place, state, change), place.count, place.problems,
    scrolling("List of runs", h("table", {class: "runs"}, h("thead", {}, place.head), place.body)));
  draw(place, state, change);
  const timer = setInterval(() => refresh(place, change), REFRESH);
  return () => clearInterval(timer);
}

function compare({chosen}) {
  const runs = [...chosen].map((name) => `run=${encodeURIComponent(name)}`);
  location.hash = `#/compare?${runs.join("&")}`;
}

/** Look again, but not while somebody is at work in the table. */
async function refresh(place, change) {
  if (document.hidden || place.body.contains(document.activeElement)) return;
  try {
    change({data: await getJson("/api/runs")});
  } catch (error) {
    showError(place.problems, error);
  }
}

function controls(place, state, change) {
  return h("div", {class: "controls"},
    h("label", {}, "Search", h("input", {
      type: "search", value: state.text, placeholder: "name, job or model",
      oninput: ({target}) => change({text: target.value}),
    })),
    h("label", {}, "Job", place.jobs),
    h("label", {}, "State", h("select", {onchange: ({target}) => change({state: target.value})},
      options(STATES, state.state))),
    h("label", {class: "inline"}, h("input", {
      type: "checkbox", onchange: ({target}) => change({predictions: target.checked}),
    }), "Show predictions"),
    place.compare);
}

function options(values, chosen) {
  return values.map((one) => h("option", {value: one, selected: one === chosen}, one || "any"));
}

function draw(place, state, change) {
  const {runs, problems, folder} = state.data;
  const jobs = new Set(runs.flatMap((one) => [one, ...one.cells]).map(({job}) => job));
  const lines = runs.filter((one) => [one, ...one.cells].some((line) => fits(line, state)));
  const headers = Object.entries(COLUMNS).map(([key, text]) => header(key, text, state, change));
  place.jobs.replaceChildren(...options(["", ...[...jobs].sort()], state.job));
  place.count.textContent = runs.length
    ? `${lines.length} of ${runs.length} runs and studies in ${folder}`
    : `There are no runs in ${folder} yet. Try: attnlab knowledge demo`;
  place.problems.replaceChildren(
    ...(problems.length ? [h("div", {class: "warning"}, list(problems))] : []));
  place.head.replaceChildren(h("td"), ...headers);
  place.body.replaceChildren(...sorted(lines, state).flatMap((one) => rows(one, state, change)));
  place.compare.disabled = state.chosen.size < 2;
  place.compare.title = state.chosen.size < 2 ? "Tick two or more runs to compare them" : "";
  place.compare.textContent = state.chosen.size ? `Compare ${state.chosen.size}` : "Compare";
}

function header(key, text, state, change) {
  const isMine = state.sort === key;
  const order = isMine ? (state.down ? "descending" : "ascending") : "none";
  const down = isMine ? !state.down : LARGEST_FIRST.includes(key);
  const arrow = isMine && h("span", {"aria-hidden": "true"}, state.down ? " ↓" : " ↑");
  return h("th", {scope: "col", "aria-sort": order},
    h("button", {type: "button", onclick: () => change({sort: key, down})}, text, arrow));
}

function sorted(lines, {sort, down}) {
  const value = (one) => (sort === "score" ? goodness(one) : one[sort]);
  const order = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
  return [...lines].sort((a, b) => (down ? order(b, a) : order(a, b)));
}

function goodness({score}) {
  if (!score) return -Infinity;
  return LESS_IS_BETTER.includes(score.metric) ? -score.value : score.value;
}

function fits(one, {text, job, state, predictions}) {
  const words = `${one.name} ${one.job} ${one.model}`.toLowerCase();
  return words.includes(text.trim().toLowerCase()) && (!job || one.job === job)
    && (!state || one.state === state) && (predictions || job || !one.is_prediction);
}

/** A run is one row; a study is one row, and one per cell where it is unfolded. */
function rows(one, state, change) {
  if (!one.cells.length) return [row(one, state, change)];
  const isOpen = state.open.has(one.name);
  const turn = () => {
    state.open[isOpen ? "delete" : "add"](one.name);
    change({});
  };
  const unfold = h("button", {
    type: "button", class: "unfold", onclick: turn,
    "aria-expanded": String(isOpen), "aria-label": `Cells of ${one.name}`,
  }, `${isOpen ? "▾" : "▸"} ${one.cells.length} cells`);
  const cells = isOpen ? one.cells.map((cell) => row(cell, state, change, {isCell: true})) : [];
  return [row(one, state, change, {unfold}), ...cells];
}

function row(one, state, change, {unfold, isCell} = {}) {
  const choose = ({target}) => {
    state.chosen[target.checked ? "add" : "delete"](one.name);
    change({});
  };
  const box = one.score && !unfold && h("input", {
    type: "checkbox", onchange: choose, checked: state.chosen.has(one.name),
    "aria-label": `Compare ${one.name}`,
  });
  const name = isCell ? one.name.split("/").at(-1) : one.name;
  return h("tr", {class: isCell && "cell"},
    h("td", {}, box),
    h("td", {class: "name"}, h("a", {href: pageOf(one.name)}, name), unfold),
    h("td", {}, one.job), h("td", {}, one.model), h("td", {}, result(one)),
    h("td", {}, badge(one)), h("td", {}, age(Date.now() / 1000 - one.changed)));
}

/** How far a run is or, if it is finished, what it scored. */
export function result({progress, score_text: score}) {
  return progress ?? score ?? "–";
}

export function badge({state, failure}) {
  return h("span", {class: `state ${state}`, title: failure?.message}, state);
}

function age(seconds) {
  const [size, unit] = UNITS.find(([one]) => seconds >= one) ?? UNITS.at(-1);
  return `${Math.max(0, Math.floor(seconds / size))}${unit}`;
}
