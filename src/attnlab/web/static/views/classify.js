// A text's classes with their probabilities, and which of its tokens mattered, in two ways.

import {asking} from "../attention/asking.js";
import {percent} from "../attention/heat_map.js";
import {share} from "../attention/top_keys.js";
import {scrolling} from "../blocks.js";
import {colored, worthTable} from "../classify/tokens.js";
import {h, postJson, showError} from "../dom.js";
import {noModels, runsWithModel} from "../run_choice.js";

export const title = "Classify";
const INTRODUCTION = "Type a text and choose a run. The probabilities are those of attnlab classify predict.";
const COLORS = "Green tokens speak for the class, red ones against it; the strongest color is the largest number of its line.";
const GRADIENT = "By how much the class's log-odds would rise, to first order, if the token's vector became longer. It is"
  + " not what would happen without the token.";
const LEAVE_ONE_OUT = "By how many percentage points the class's probability falls if the token is taken out. It is true"
  + " of that shorter text only: two tokens that say the same hide each other.";
const NEITHER = "Neither is a reason: they describe this model on this text, not why the class is right.";

/** `#/classify?run=NAME` begins with that run. */
export async function render(root, {query}) {
  const models = await runsWithModel("classifier");
  root.append(h("h1", {}, title), h("p", {}, INTRODUCTION));
  if (!models.length) {
    root.append(noModels("classifier", "attnlab classify train"));
    return undefined;
  }
  const place = h("div", {"aria-live": "polite"});
  let turn = 0;
  const onask = async (asked, label = null) => {
    const mine = ++turn;
    const isOld = () => mine !== turn;
    if (!label) place.replaceChildren(h("p", {class: "loading"}, "The model is reading …"));
    try {
      const found = await postJson("/api/classify", {...asked, label});
      if (isOld()) return;
      const worth = h("div", {"aria-live": "off"});
      place.replaceChildren(...answer(found, (other) => onask(asked, other)), worth);
      await explain(worth, asked, {found, isOld});
    } catch (error) {
      if (!isOld()) showError(place, error);
    }
  };
  root.append(asking(models, {chosen: query.get("run"), text: "", button: "Classify", onask}), place);
  return () => { turn += 1; };
}

function answer({prediction, confidence, probabilities, label, is_cut: isCut, tokens}, onlabel) {
  const classes = Object.entries(probabilities).sort(([, a], [, b]) => b - a);
  const choose = h("select", {onchange: () => onlabel(choose.value)},
    classes.map(([name]) => h("option", {value: name, selected: name === label}, name)));
  return [
    h("h2", {}, `Class ${prediction}, ${percent(confidence)}`),
    isCut && h("p", {class: "warning"}, `The model reads ${tokens.length} tokens; the rest of the text was cut off.`),
    scrolling("Probabilities of the classes", h("table", {class: "classes"},
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Class"), h("th", {scope: "col"}, "Probability"), h("td", {}))),
      h("tbody", {}, classes.map(([name, likely]) => h("tr", {}, h("th", {scope: "row"}, name),
        h("td", {}, h("data", {value: String(likely)}, percent(likely))), h("td", {}, share(likely))))))),
    h("h2", {}, "Which tokens mattered"),
    h("div", {class: "controls"}, h("label", {}, "For the class", choose)), h("p", {class: "quiet"}, COLORS),
  ].filter(Boolean);
}

/** Show gradient × input at once, and leave-one-out as it is computed, some tokens at a time. */
async function explain(place, asked, {found, isOld}) {
  const {tokens, is_text: isText, gradient_times_input: gradient, label} = found;
  const falls = [];
  const show = (start) => {
    const total = isText.filter(Boolean).length, done = Object.keys(falls).length;
    const state = start === null ? "" : ` ${done} of ${total} tokens so far …`;
    place.replaceChildren(
      h("h3", {}, "Gradient × input"), h("p", {class: "quiet"}, GRADIENT), colored(tokens, gradient, isText),
      h("h3", {}, "Leave-one-out"), h("p", {class: "quiet"}, LEAVE_ONE_OUT),
      colored(tokens, tokens.map((_, i) => falls[i]), isText),
      h("p", {role: "status"}, state), h("p", {}, NEITHER),
      h("details", {}, h("summary", {}, "All numbers"), worthTable(tokens, {gradient, falls})));
  };
  for (let start = 0; start !== null;) {
    show(start);
    const some = await postJson("/api/classify/leave-one-out", {...asked, label, start});
    if (isOld()) return;
    for (const [i, fall] of Object.entries(some.falls_by)) falls[i] = fall;
    start = some.next;
  }
  show(null);
}
