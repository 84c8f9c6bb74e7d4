// Another first or last name in the same question: what the answer depends on.

import {h} from "./dom.js";

const PARTS = {first: "First name", last: "Last name"};

/** Fields for both parts of the name that a question has; `ask` asks another question. */
export function nameChange({question, person, name_parts: known}, ask) {
  const words = person?.split(" ") ?? [];
  if (words.length < 2) return [];
  const now = {first: words[0], last: words.at(-1)};
  const fields = Object.fromEntries(Object.entries(PARTS).map(([part, label]) =>
    [part, field(part, label, {now: now[part], known: known[part]})]));
  const submit = (event) => {
    event?.preventDefault();
    const name = [fields.first.input.value.trim(), ...words.slice(1, -1), fields.last.input.value.trim()];
    ask(question.replace(person, name.filter(Boolean).join(" ")));
  };
  const another = (part) => h("button", {
    type: "button", disabled: known[part].length < 2, onclick: () => {
      fields[part].input.value = nextOf(known[part], now[part]);
      submit();
    },
  }, `Another ${PARTS[part].toLowerCase()}`);
  return [h("h2", {}, "Change the name"), h("form", {class: "controls", onsubmit: submit, "aria-label": "Change the name"},
    fields.first.element, fields.last.element, h("button", {}, "Ask with this name"),
    another("first"), another("last"))];
}

function field(part, label, {now, known}) {
  const input = h("input", {name: part, value: now, list: `names-${part}`, autocomplete: "off"});
  const element = h("label", {}, label, input,
    h("datalist", {id: `names-${part}`}, known.map((value) => h("option", {value}))));
  return {input, element};
}

/** The name that follows in the alphabet; after the last comes the first. */
function nextOf(known, now) {
  return known.find((one) => one > now) ?? known[0];
}
