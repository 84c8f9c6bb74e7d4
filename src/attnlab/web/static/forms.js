// A form made of settings, as web/form.py describes them: one field per setting, with its meaning,
// its default and, where the server refuses a value, the reason next to it.

import {h} from "./dom.js";

const number = new Intl.NumberFormat("en", {maximumSignificantDigits: 15});
const WRITTEN = {array: "Separate them by commas.", object: 'Written as JSON: {"name": 1}.'};
const LIMITS = {
  minimum: "at least", exclusiveMinimum: "above", maximum: "at most", exclusiveMaximum: "below",
};

/** Make the fields; `runs` are names that a field for a run suggests. */
export function settingsForm(fields, runs = []) {
  const made = fields.map((field) => fieldOf(field, runs));
  const sections = new Map([["", []]]); // what belongs to no section comes first
  for (const one of made) {
    const name = one.key.split(".").slice(0, -1).join(" › ");
    sections.set(name, [...(sections.get(name) ?? []), one]);
  }
  const isAlone = !sections.get("").length;
  const parts = [...sections].map(([name, some], i) => section(name, some, isAlone && i === 1));
  return {
    element: h("div", {class: "settings"}, parts),
    values: () => changedValues(made),
    show: (errors) => showErrors(made, errors),
  };
}

/** Put what is wrong with fields next to them, and return an Error that says all the rest.
 *
 * `others` are fields that are no settings, by key: {fail(reason), focus()}. */
export function markedIn(settings, error, others = {}) {
  const fields = {...error.fields};
  const count = Object.keys(fields).length;
  const rest = settings.show(fields);
  const left = rest.filter(([key]) => !(key in others)).map(([, reason]) => reason);
  for (const [key, one] of Object.entries(others)) {
    if (!(key in fields)) continue;
    one.fail(fields[key]);
    one.focus();
  }
  if (count === left.length) return error;
  return new Error([`Change the marked ${count === 1 ? "setting" : "settings"}.`, ...left].join(" "));
}

/** Where a field says what is wrong with it. */
export function errorOf(id, control) {
  const element = h("p", {class: "bad", id: `${id}-error`, hidden: true});
  const fail = (reason) => {
    element.hidden = !reason;
    element.textContent = reason ?? "";
    if (reason) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  return {element, fail, focus: () => control.focus()};
}

/** What differs from the defaults, by key; a field that holds no value at all throws. */
function changedValues(made) {
  showErrors(made, {});
  const values = {};
  for (const one of made) {
    try {
      if (one.isChanged()) values[one.key] = one.read();
    } catch (error) {
      error.fields = {[one.key]: error.message};
      throw error;
    }
  }
  return values;
}

/** Put reasons next to their fields, and the cursor into the first; return those without a field, by key. */
function showErrors(made, errors) {
  const left = {...errors};
  const wrong = made.filter(({key}) => key in errors);
  for (const one of made) one.fail(errors[one.key]);
  for (const {key} of wrong) delete left[key];
  wrong[0]?.focus();
  return Object.entries(left);
}

/** Settings without a section stand open; a section can be unfolded, and counts its changes. */
function section(name, made, isFirst) {
  const grid = h("div", {class: "fields"}, made.map(({element}) => element));
  if (!name) return grid;
  const count = h("span", {class: "quiet"});
  const update = () => {
    const changed = made.filter((one) => one.isChanged()).length;
    count.textContent = ` ${made.length} settings${changed ? `, ${changed} changed` : ""}`;
  };
  const element = h("details", {open: isFirst, oninput: update, onchange: update},
    h("summary", {}, name, count), grid);
  update();
  return element;
}

function fieldOf(field, runs) {
  const {key} = field;
  const id = `setting-${key}`;
  const control = controlOf(field, {id, "aria-describedby": `${id}-help ${id}-error`});
  const error = errorOf(id, control);
  const initial = rawOf(control);
  const label = h("label", {for: id}, key.split(".").at(-1));
  const help = h("p", {class: "quiet", id: `${id}-help`}, coded(helpOf(field)));
  const suggestions = field.is_run && h("datalist", {id: `${id}-runs`},
    runs.map((name) => h("option", {value: name})));
  return {
    key,
    element: h("div", {class: "field"}, label, control, suggestions, help, error.element),
    isChanged: () => rawOf(control) !== initial,
    read: () => valueOf(field, control),
    fail: error.fail,
    focus() {
      const folded = control.closest("details");
      if (folded) folded.open = true;
      control.focus();
    },
  };
}

/** What a setting means, its limits, and how its value is written. */
function helpOf({meaning, limits, kind}) {
  const bounds = Object.entries(LIMITS).filter(([name]) => name in limits)
    .map(([name, words]) => `${words} ${number.format(limits[name])}`).join(" and ");
  return [meaning, bounds && `${bounds[0].toUpperCase()}${bounds.slice(1)}.`, WRITTEN[kind]]
    .filter(Boolean).join(" ");
}

/** A text whose parts in backquotes are code. */
function coded(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

function controlOf({kind, choices, value, is_run: isRun, key}, attributes) {
  if (choices.length) {
    return h("select", attributes,
      choices.map((one) => h("option", {value: one, selected: one === value}, one)));
  }
  if (kind === "boolean") return h("input", {...attributes, type: "checkbox", checked: value});
  const isNumber = kind === "integer" || kind === "number";
  return h("input", {
    ...attributes, value: textOf(value), autocomplete: "off", spellcheck: "false",
    type: isNumber ? "number" : "text", step: isNumber && (kind === "integer" ? "1" : "any"),
    list: isRun && `setting-${key}-runs`,
  });
}

function textOf(value) {
  if (value === null) return "";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function rawOf(control) {
  return control.type === "checkbox" ? String(control.checked) : control.value;
}

/** Read a field; what no number, list or JSON can be is left to the server to refuse. */
function valueOf({kind, items, may_be_empty: mayBeEmpty, choices}, control) {
  if (kind === "boolean") return control.checked;
  const text = control.value.trim();
  if (!text && mayBeEmpty) return null;
  if (choices.length || kind === "string") return control.value;
  if (kind === "array") {
    const parts = text.split(",").map((one) => one.trim()).filter(Boolean);
    return parts.map((one) => (items === "string" ? one : numberOf(one)));
  }
  return kind === "object" ? objectOf(text) : numberOf(text);
}

function numberOf(text) {
  return text && Number.isFinite(Number(text)) ? Number(text) : text;
}

function objectOf(text) {
  try {
    return JSON.parse(text || "{}");
  } catch {
    throw new Error('This must be JSON, for example {"block": 128}.');
  }
}
