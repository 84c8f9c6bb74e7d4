// A choice among the runs that have a model of some kind.

import {getJson, h} from "./dom.js";

/** Fetch the runs with a model of one of these kinds: "language model", "classifier". */
export async function runsWithModel(...kinds) {
  const {models} = await getJson("/api/models");
  return models.filter(({kind}) => kinds.includes(kind));
}

/** A labelled list to choose a run from; `onchange` is called with what /api/models says of it. */
export function runChoice(models, {chosen, onchange}) {
  const select = h("select", {
    onchange: () => onchange(models.find(({name}) => name === select.value)),
  }, models.map((one) => h("option", {value: one.name, selected: one.name === chosen}, describe(one))));
  return h("label", {}, "Run", select);
}

/** What to show where there is nothing to choose from. */
export function noModels(kind, command) {
  return h("p", {}, `There is no finished run with a ${kind} yet. Try: ${command}`);
}

function describe({name, job, score_text: score}) {
  return [name, job, score].filter(Boolean).join(" · ");
}
