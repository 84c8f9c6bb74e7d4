// A prompt that a run's model continues, shown token by token as it is written.

import {list} from "../blocks.js";
import {getJson, h, postEvents, showError} from "../dom.js";
import {markedIn, settingsForm} from "../forms.js";
import {noModels, runChoice, runsWithModel} from "../run_choice.js";

export const title = "Write";
const KIND = "language model";
const LONGEST = 100_000;
const INTRODUCTION = "Type how a text begins. A run's model goes on with it, token by token.";

/** `#/write?run=NAME` begins with that run. */
export async function render(root, {query}) {
  const [models, {fields}] = await Promise.all([runsWithModel(KIND), getJson("/api/write/form")]);
  root.append(h("h1", {}, title), h("p", {}, INTRODUCTION));
  if (!models.length) {
    root.append(noModels(KIND, "attnlab knowledge demo"));
    return undefined;
  }
  const chosen = models.find(({name}) => name === query.get("run")) ?? models[0];
  const page = new WritePage(root, models, {chosen: chosen.name, fields});
  return () => page.stop();
}

class WritePage {
  constructor(root, models, {chosen, fields}) {
    this.run = chosen;
    this.settings = settingsForm(fields);
    this.prompt = h("textarea", {maxlength: LONGEST, rows: 3}, "The");
    this.begin = h("button", {class: "primary"}, "Write");
    this.end = h("button", {type: "button", disabled: true, onclick: () => this.stop()}, "Stop");
    this.status = h("p", {class: "quiet", role: "status"});
    this.place = h("div");
    const submit = (event) => {
      event.preventDefault();
      this.write();
    };
    root.append(h("form", {onsubmit: submit, novalidate: true},
      h("div", {class: "controls"}, runChoice(models, {chosen, onchange: ({name}) => { this.run = name; }})),
      h("div", {class: "field wide"}, h("label", {for: "prompt"}, "Prompt"), this.prompt),
      h("details", {class: "how"}, h("summary", {}, "How to write"), this.settings.element),
      h("p", {class: "controls"}, this.begin, this.end)), this.status, this.place);
    this.prompt.id = "prompt";
  }

  /** Stop writing; what is written stays. */
  stop() {
    this.aborter?.abort();
  }

  async write() {
    this.stop();
    const aborter = this.aborter = new AbortController();
    this.busy(true);
    this.place.replaceChildren();
    try {
      const body = {run: this.run, prompt: this.prompt.value, values: this.settings.values()};
      const onEvent = (name, data) => this.take(name, data);
      await postEvents("/api/write", body, {signal: aborter.signal, onEvent});
    } catch (error) {
      if (this.aborter !== aborter) return; // it is writing again
      if (error.name === "AbortError") this.status.textContent = "Stopped.";
      else this.refuse(error);
    } finally {
      if (this.aborter === aborter) this.busy(false);
    }
  }

  busy(isBusy) {
    if (!isBusy && document.activeElement === this.end) this.begin.focus(); // not lost with the button
    this.end.disabled = !isBusy;
    if (isBusy) this.status.textContent = "Writing …";
  }

  take(name, data) {
    if (name === "begin" && data.warnings.length) this.place.append(h("div", {class: "warning"}, list(data.warnings)));
    if (name === "sample") this.startText(data.number);
    if (name === "piece") this.append(data.text);
    if (name === "done") this.status.textContent = `${data.tokens} token${data.tokens === 1 ? "" : "s"}. ${data.ended ? "The model ended the text." : "It stopped at the length limit."}`;
    if (name === "problem") this.refuse(new Error(data.error));
  }

  startText(number) {
    this.text = h("p", {class: "written", role: "region", "aria-label": `Text ${number}`, tabindex: "0"});
    this.place.append(this.text);
  }

  /** Add a piece of the text; the first one is the prompt. */
  append(piece) {
    this.text.append(this.text.hasChildNodes() ? piece : h("span", {class: "prompt"}, piece));
  }

  refuse(error) {
    this.status.textContent = "";
    const problem = h("div");
    showError(problem, markedIn(this.settings, error));
    this.place.append(problem);
  }
}
