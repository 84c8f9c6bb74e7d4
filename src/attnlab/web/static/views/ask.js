// Questions to a run's model: the answer, whether to believe it, and what it rests on.

import {answerDetails, answerHead} from "../answer.js";
import {lengthOf} from "../blocks.js";
import {getJson, h, postJson, showError} from "../dom.js";
import {nameChange} from "../name_change.js";
import {noModels, runChoice, runsWithModel} from "../run_choice.js";

export const title = "Ask";
const KIND = "language model";
const INTRODUCTION = "Ask a run's model a question. You see its answer, whether it looks retrieved or made up and why, and what"
  + " the corpus says.";

/** `#/ask?run=NAME&question=TEXT` asks at once. */
export async function render(root, {query}) {
  const models = await runsWithModel(KIND);
  root.append(h("h1", {}, title), h("p", {}, INTRODUCTION));
  if (!models.length) {
    root.append(noModels(KIND, "attnlab knowledge demo"));
    return;
  }
  const chosen = models.find(({name}) => name === query.get("run")) ?? models[0];
  const page = new AskPage(root, models, chosen.name);
  await page.choose(chosen.name);
  if (query.get("question")) await page.ask(query.get("question"));
}

class AskPage {
  constructor(root, models, chosen) {
    this.asked = [];
    this.number = 0;
    this.offered = "";
    this.input = h("input", {name: "question", autocomplete: "off", maxlength: 10000});
    this.examples = h("datalist", {id: "example-questions"});
    this.input.setAttribute("list", "example-questions");
    this.status = h("p", {class: "quiet"});
    this.said = h("p", {class: "unseen", role: "status"});
    this.place = h("div");
    const submit = (event) => {
      event.preventDefault();
      this.ask(this.input.value);
    };
    root.append(
      h("div", {class: "controls"}, runChoice(models, {chosen, onchange: ({name}) => this.choose(name)})),
      h("form", {class: "question", onsubmit: submit},
        h("label", {}, "Question", this.input), h("button", {class: "primary"}, "Ask"), this.examples),
      this.status, this.said, this.place);
  }

  /** Offer a question that the run has answered before, unless somebody has typed another. */
  async choose(run) {
    this.run = run;
    this.number += 1; // an answer of the run before comes too late
    this.status.textContent = "";
    this.place.replaceChildren();
    try {
      const {questions} = await getJson(`/api/ask/examples?name=${encodeURIComponent(run)}`);
      if (run !== this.run) return;
      this.examples.replaceChildren(...questions.map((value) => h("option", {value})));
      if (this.input.value === this.offered) this.input.value = this.offered = questions[0] ?? "";
    } catch (error) {
      if (run === this.run) showError(this.place, error);
    }
  }

  async ask(question) {
    this.input.value = question;
    this.status.textContent = "Asking …";
    this.number += 1;
    const {number, run} = this;
    try {
      const answer = await postJson("/api/ask", {run, question});
      if (number === this.number) this.show({...answer, run});
    } catch (error) {
      if (number !== this.number) return;
      this.status.textContent = "";
      showError(this.place, error);
    }
  }

  show(answer) {
    this.status.textContent = "";
    this.said.textContent = `${answer.text || "nothing"}, ${answer.verdict}: ${answer.reason}`;
    this.asked = [answer, ...this.asked];
    keepingFocus(this.place, () => this.place.replaceChildren(
      ...answerHead(answer), ...nameChange(answer, (text) => this.ask(text)),
      ...historyOf(this.asked), ...answerDetails(answer)));
  }
}

/** Draw a place anew; whoever was at a button or field there is at the new one of its name. */
function keepingFocus(place, draw) {
  const nameOf = (one) => one.name || one.textContent;
  const before = place.contains(document.activeElement) && nameOf(document.activeElement);
  draw();
  const after = [...place.querySelectorAll("button, input")].find((one) => nameOf(one) === before);
  after?.focus();
}

function historyOf(asked) {
  if (asked.length < 2) return [];
  const rows = asked.map(({run, question, text, verdict, probability}) =>
    h("tr", {}, [question, text || "(nothing)", verdict, `${Math.round(100 * probability)} %`, run]
      .map((cell) => h("td", {class: lengthOf(cell)}, cell))));
  const columns = ["question", "answer", "verdict", "confidence", "run"];
  return [h("h2", {}, "Asked so far"),
    h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Asked so far"}, h("table", {},
      h("thead", {}, h("tr", {}, columns.map((one) => h("th", {scope: "col"}, one)))), h("tbody", {}, rows)))];
}
