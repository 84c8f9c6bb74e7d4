// Runs compared on the same examples, with the verdicts of `attnlab runs compare`.

import {blocks} from "../blocks.js";
import {intervals} from "../charts.js";
import {getJson, h, showError} from "../dom.js";
import {pageOf} from "./runs.js";

export const title = "Compare";

const METRICS = ["", "accuracy", "f1", "perplexity", "bits_per_character"];

export async function render(root, {query}) {
  const runs = query.getAll("run");
  const links = runs.map((name, i) => [i > 0 && " vs ", h("a", {href: pageOf(name)}, name)]);
  root.append(h("h1", {}, "Compare"));
  if (runs.length < 2) {
    const toList = h("a", {href: "#/runs"}, "list");
    root.append(h("p", {}, "Choose two or more finished runs in the ", toList, "."));
    return;
  }
  const place = h("div", {"aria-live": "polite"});
  const change = (key, value) => {
    if (value) query.set(key, value);
    else query.delete(key);
    return show(place, query);
  };
  root.append(h("p", {}, links), controls(query, change), place);
  await show(place, query);
}

function controls(query, change) {
  const chosen = query.get("metric") ?? "";
  const name = (metric) => metric.replaceAll("_", " ") || "the runs' own";
  return h("div", {class: "controls"},
    h("label", {}, "Metric", h("select", {onchange: ({target}) => change("metric", target.value)},
      METRICS.map((one) => h("option", {value: one, selected: one === chosen}, name(one))))),
    h("label", {}, "Split", h("input", {
      value: query.get("split") ?? "", placeholder: "test, else dev",
      onchange: ({target}) => change("split", target.value.trim()),
    })));
}

async function show(place, query) {
  place.replaceChildren(h("p", {class: "loading"}, "Comparing …"));
  try {
    const found = await getJson(`/api/runs/compare?${query}`);
    const scores = found.conditions.map((one) => ({
      ...one, metric: found.metric, value: one.score,
    }));
    place.replaceChildren(intervals(scores), ...blocks(found.blocks));
  } catch (error) {
    showError(place, error);
  }
}
