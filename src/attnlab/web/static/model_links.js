// From a run's page to the views that ask its model.

import {getJson, h} from "./dom.js";

const SEE = {attention: "See its attention"};
const VIEWS = {
  "language model": {ask: "Ask its model", write: "Let it write", ...SEE},
  classifier: {classify: "Classify a text", ...SEE},
};

/** Links for a run, by the kind of its model; a run without one has none. */
export async function modelLinks(run) {
  const {models} = await getJson("/api/models");
  const kind = models.find(({name}) => name === run)?.kind;
  const links = Object.entries(VIEWS[kind] ?? {}).map(([view, text], i) =>
    [i > 0 && " · ", h("a", {href: `#/${view}?run=${encodeURIComponent(run)}`}, text)]);
  return links.length ? [h("p", {}, links)] : [];
}
