// What to ask of which model: a run, a text, and a second one where the run classifies pairs.

import {h} from "../dom.js";
import {runChoice} from "../run_choice.js";

/** A form; `onask({run, text, pair})` is called when it is sent. */
export function asking(models, {chosen, text, button, onask}) {
  let model = models.find(({name}) => name === chosen) ?? models[0];
  const first = h("textarea", {rows: "3", required: true, maxlength: "20000", spellcheck: "false"}, text);
  const second = h("textarea", {rows: "2", maxlength: "20000", spellcheck: "false"});
  const pair = h("label", {hidden: !model.has_pairs}, "Second text", second);
  const onchange = (one) => {
    model = one;
    pair.hidden = !one.has_pairs;
  };
  const send = (event) => {
    event.preventDefault();
    onask({run: model.name, text: first.value, pair: model.has_pairs ? second.value : null});
  };
  return h("form", {class: "asking", onsubmit: send},
    runChoice(models, {chosen: model.name, onchange}),
    h("label", {}, "Text", first), pair,
    h("p", {}, h("button", {type: "submit", class: "primary"}, button)));
}
