// Attention by hand: points to drag, weights that follow, and a solver that answers with proof.

import {getJson, h, postJson, showError} from "../dom.js";
import * as boards from "../playground/board.js";
import {controls} from "../playground/controls.js";
import {coordinates} from "../playground/coordinates.js";
import {explanationOf, written} from "../playground/explanation.js";
import {noisyHeads} from "../playground/noisy_heads.js";
import {makePlane} from "../playground/plane.js";
import {proofOf} from "../playground/proof.js";
import {edgesOf} from "../playground/projection.js";
import {tokensTable} from "../playground/tokens.js";

export const title = "Playground";
const FIRST = "interior";
const PAUSE = 600; // milliseconds without a change, after which a screen reader is told the weights
const INTRODUCTION = "Drag the query q, the keys k and the values v, or focus one and press the arrow keys (Page Up and"
  + " Page Down for a third coordinate). The weights are softmax(Kq / T), and the output is their mean of the values.";
const HOW_TO_ASK = "Press Select next to a token, or tick some tokens and average them. The answer is a query, or a"
  + " proof that there is none, as attnlab attention solve prints it.";

/** `#/playground?example=NAME` begins with that example. */
export async function render(root, {query}) {
  const {examples, verdicts} = await getJson("/api/playground/examples");
  const page = new Playground(root, {examples, verdicts});
  page.load(query.get("example") ?? FIRST);
  await page.heads.draw();
  return () => clearTimeout(page.timer);
}

class Playground {
  constructor(root, {examples, verdicts}) {
    this.examples = examples;
    this.verdicts = verdicts;
    this.heads = noisyHeads(verdicts);
    this.build((act) => (...given) => this.change(() => act(this.board, ...given)));
    root.append(...this.layout());
  }

  /** Make the parts of the page; `change` makes what they do a change of the board. */
  build(change) {
    const look = change(() => {});
    const onMove = change(boards.movePoint);
    const onSelect = change((board, id) => { board.chosen = id; });
    this.keys = figureOf(makePlane("Keys and the query", {onMove, onSelect}));
    this.values = figureOf(makePlane("Values and the output", {onMove, onSelect}));
    this.tokens = tokensTable({
      select: (token) => this.ask([token]),
      tick: change(boards.tickToken),
      remove: change(boards.removeToken),
    });
    this.coordinates = coordinates({choose: onSelect, move: change(boards.moveAlong)});
    const heat = change((board, temperature) => { board.temperature = temperature; });
    const load = (name) => this.load(name);
    this.controls = controls(this.examples, {load, size: change(boards.setDimensions), heat, look});
    this.add = buttonOf("Add a token", change(boards.addToken));
    this.average = buttonOf("Average the ticked tokens", () => this.ask([...this.board.ticked].sort((a, b) => a - b)));
    this.giveValues = buttonOf("Give the tokens values", change(boards.addValues));
    this.verdict = h("div", {"aria-live": "polite"});
    this.reasons = h("div", {class: "answer"});
    this.status = h("p", {class: "unseen", role: "status"});
  }

  layout() {
    const side = h("div", {class: "side"}, this.tokens.element, h("p", {class: "controls"}, this.average, this.add),
      this.coordinates.element, this.controls.space);
    return [
      h("h1", {}, title), h("p", {}, INTRODUCTION),
      this.controls.element, this.controls.about, this.status,
      h("div", {class: "board"}, this.keys.element, h("div", {}, this.values.element, this.giveValues), side),
      h("section", {"aria-labelledby": "ask-title"},
        h("h2", {id: "ask-title"}, "What a query can do"), h("p", {class: "quiet"}, HOW_TO_ASK),
        this.verdict, this.reasons),
      this.heads.element,
    ];
  }

  load(name) {
    const example = this.examples.find((one) => one.name === name);
    if (!example) throw new Error(`There is no example called ${name}. Choose one of ${namesOf(this.examples)}.`);
    history.replaceState(null, "", `#/playground?example=${name}`);
    this.board = boards.boardOf(example);
    this.answer = null;
    this.controls.begin(example);
    this.verdict.replaceChildren();
    this.reasons.replaceChildren();
    this.change(() => {});
  }

  change(act) {
    act();
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.status.textContent = spoken(boards.attend(this.board)); }, PAUSE);
  }

  draw() {
    const {board} = this;
    const found = boards.attend(board);
    const points = boards.pointsOf(board).map((point) => (
      {...point, weight: found.weights[point.token], chosen: point.id === board.chosen}));
    this.drawKeys(points.filter(({kind}) => kind !== "value"));
    this.drawValues(points.filter(({kind}) => kind === "value"), found.output);
    this.tokens.draw({...found, ticked: board.ticked});
    const reach = board.chosen.startsWith("v") ? board.reach.values : board.reach.keys;
    this.coordinates.draw({points, chosen: board.chosen, reach});
    this.controls.draw(board);
    this.average.disabled = board.ticked.size === 0;
    this.add.disabled = board.keys.length >= boards.MOST_TOKENS;
  }

  drawKeys(points) {
    const {keys, query, reach, version} = this.board;
    const isFresh = this.answer?.version === version;
    const {shapes, caption} = isFresh ? this.answer.proof : {shapes: [], caption: ""};
    const arrow = {kind: "query", rows: [query.map(() => 0), query], draw: "arrow"};
    const all = [...hullOf(keys), ...shapes, arrow];
    this.keys.draw({reach: reach.keys, angles: this.controls.angles(), points, shapes: all});
    this.keys.say(`Keys and query. ${caption}`, query);
    this.reasons.classList.toggle("stale", Boolean(this.answer) && !isFresh);
  }

  drawValues(points, output) {
    const {values, reach} = this.board;
    this.giveValues.hidden = Boolean(values);
    this.values.element.classList.toggle("empty", !values);
    const words = values ? "Values." : "There are no values: the output is the weights.";
    this.values.say(`${words} Output ${written(output)}`, output);
    if (!values) return;
    const arrow = {kind: "output", rows: [output.map(() => 0), output], draw: "arrow", name: "output"};
    this.values.draw({reach: reach.values, angles: this.controls.angles(), points, shapes: [...hullOf(values), arrow]});
  }

  /** Ask for all weight on some tokens, and show the query or the proof that there is none. */
  async ask(subset) {
    const {board} = this;
    const {keys, values, version, reach} = board;
    try {
      const explained = await postJson("/api/playground/solve", {keys, values, subset});
      if (board !== this.board) return;
      const use = (query) => this.change(() => query && Object.assign(board, {query, temperature: 1}));
      const [heading, ...reasons] = explanationOf(explained, {verdicts: this.verdicts, onQuery: use});
      this.answer = {version, proof: proofOf(explained.data, keys, reach.keys)};
      this.verdict.replaceChildren(heading);
      this.reasons.replaceChildren(...reasons);
      use(explained.data.reached?.query);
    } catch (error) {
      this.answer = null;
      this.verdict.replaceChildren();
      showError(this.reasons, error);
    }
  }
}

function namesOf(examples) {
  return examples.map(({name}) => name).join(", ");
}

function spoken({weights, output}) {
  const shares = weights.map((weight, i) => `token ${i} ${weight.toFixed(2)}`).join(", ");
  return `Weights: ${shares}. Output: ${written(output, 3)}.`;
}

function hullOf(rows) {
  const edges = rows[0].length === 3 ? edgesOf(rows) : [];
  return [{kind: "hull", rows}, ...edges.map(([i, j]) => ({kind: "edge", rows: [rows[i], rows[j]]}))];
}

function buttonOf(words, onclick) {
  return h("button", {type: "button", onclick}, words);
}

/** A plane with a caption, which also holds the numbers with all their digits. */
function figureOf({element, draw}) {
  const words = h("data", {});
  const say = (text, numbers) => {
    words.textContent = text;
    words.value = JSON.stringify(numbers);
  };
  return {element: h("figure", {}, element, h("figcaption", {}, words)), draw, say};
}
