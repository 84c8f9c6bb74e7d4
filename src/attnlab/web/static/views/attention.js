// Attention of a run's model: every layer and head on a typed text, one head in full.

import {asking} from "../attention/asking.js";
import {headFigure} from "../attention/figure.js";
import {habitsOf, headGrid} from "../attention/head_grid.js";
import {shown} from "../attention/heat_map.js";
import {fileName, matrixJson, save} from "../attention/save.js";
import {bestOf, topKeys} from "../attention/top_keys.js";
import {h, postForNumbers, postJson, showError} from "../dom.js";
import {noModels, runsWithModel} from "../run_choice.js";

export const title = "Attention";
const KINDS = ["language model", "classifier"];
const MATRICES = {weights: "Weights", scores: "Scores before the mask", masked: "Scores after the mask"};
const MOST_KEPT = 12; // matrices
const INTRODUCTION = "Choose a run, a GPT or a classifier, and type a text. Every small picture is one head: a row per token"
  + " that looks, a column per token that is looked at, and full color for the head's largest weight.";

/** `#/attention?run=NAME` begins with that run. */
export async function render(root, {query}) {
  const models = await runsWithModel(...KINDS);
  root.append(h("h1", {}, title), h("p", {}, INTRODUCTION));
  if (!models.length) {
    root.append(noModels("model", "attnlab knowledge demo"));
    return undefined;
  }
  const place = h("div", {}), status = h("p", {role: "status"});
  let page, turn = 0;
  const onask = async (asked) => {
    const mine = ++turn;
    status.textContent = "The model is reading …";
    place.replaceChildren();
    page = undefined;
    try {
      const data = await postJson("/api/attention/overview", asked);
      if (mine !== turn) return;
      status.textContent = lengthOf(data);
      page = new HeadView(asked, data);
      place.replaceChildren(page.element);
      await page.begin();
    } catch (error) {
      if (mine !== turn) return;
      status.textContent = "";
      showError(place, error);
    }
  };
  const text = "The quick brown fox jumps over the lazy dog.";
  root.append(asking(models, {chosen: query.get("run"), text, button: "Look", onask}), status, place);
  const repaint = () => page?.paint();
  const watcher = new MutationObserver(repaint);
  watcher.observe(document.documentElement, {attributeFilter: ["data-theme"]});
  addEventListener("resize", repaint);
  return () => {
    turn += 1;
    watcher.disconnect();
    removeEventListener("resize", repaint);
  };
}

class HeadView {
  constructor(asked, data) {
    Object.assign(this, {asked, data, layer: 0, head: 0, matrix: "weights", asArcs: false});
    this.chosen = data.tokens.length - 1;
    this.kept = new Map();
    this.grid = headGrid(data.layers, (layer, head) => this.change({layer, head}));
    this.figure = headFigure({onchoose: (chosen) => this.change({chosen})});
    this.leak = h("p", {class: "quiet"}, "Leak meter: measuring …");
    this.keys = h("div", {});
    this.about = h("p", {class: "quiet"});
    this.problem = h("div", {});
    this.spoken = h("p", {class: "unseen", role: "status"});
    this.element = h("div", {}, ...this.layout());
  }

  layout() {
    const {tokens} = this.data;
    this.controls = {
      drawing: choice("Drawing", {heat: "Heat map", arcs: "Arcs"}, (value) => this.change({asArcs: value === "arcs"})),
      matrix: choice("Numbers", MATRICES, (matrix) => this.change({matrix})),
      token: choice("Token", Object.fromEntries(tokens.map((one, i) => [i, `${i + 1}: ${shown(one)}`])), (value) => (
        this.change({chosen: Number(value)}))),
    };
    const {drawing, matrix, token} = this.controls;
    const file = (ending, make) => h("button", {type: "button", onclick: () => this.save(ending, make)}, `Save ${ending.toUpperCase()}`);
    return [
      this.leak, this.spoken, h("h2", {}, "Heads"), this.grid.element,
      this.title = h("h2", {}), this.about,
      h("div", {class: "controls"}, drawing.element, matrix.element, token.element), this.problem,
      h("div", {class: "head-view"},
        h("div", {}, this.figure.element, h("div", {class: "exports"},
          file("png", () => this.figure.png()), file("svg", () => this.figure.svg()), file("json", () => this.json()))),
        this.keys),
    ];
  }

  async begin() {
    this.grid.paint();
    await this.change({});
    try {
      const found = await postJson("/api/attention/leak", this.asked);
      const verdict = found.applies && !found.found ? "no leak; " : "";
      this.leak.textContent = `Leak meter: ${verdict}${found.sentence}${found.sentence.endsWith(".") ? "" : "."}`;
      this.leak.className = found.found ? "bad" : found.applies ? "good" : "quiet";
    } catch (error) {
      this.leak.textContent = `Leak meter: ${error.message}`;
      this.leak.className = "warning";
    }
  }

  paint() {
    this.grid.paint();
    this.figure.paint();
  }

  /** Change what is shown; arcs are of weights. */
  async change(what) {
    Object.assign(this, what);
    const {layer, head, asArcs, chosen} = this;
    const matrix = asArcs ? "weights" : this.matrix;
    const turn = this.turn = (this.turn ?? 0) + 1;
    this.grid.choose(layer, head);
    this.controls.matrix.set(matrix, {disabled: asArcs});
    this.controls.token.set(chosen);
    try {
      const [weights, shownOnes] = await Promise.all([this.numbers("weights"), this.numbers(matrix)]);
      if (turn === this.turn) this.draw(weights, {values: shownOnes, isWeights: matrix === "weights", asArcs});
    } catch (error) {
      if (turn === this.turn) showError(this.problem, error);
    }
  }

  draw(weights, {values, isWeights, asArcs}) {
    const layer = this.data.layers[this.layer];
    const map = {...this.names(layer), chosen: this.chosen, values, isWeights, asArcs};
    const name = `${layer.name}, head ${this.head + 1}`;
    this.map = map;
    this.problem.replaceChildren();
    this.title.textContent = name.charAt(0).toUpperCase() + name.slice(1);
    this.about.textContent = `${habitsOf(layer, this.head).slice(2)}.`.replace(/^on/, "On").replace(/^\.$/, "");
    this.figure.show(map, `${name}: ${isWeights ? "weights" : "scores"}. The table lists the top keys of the chosen token.`);
    this.keys.replaceChildren(topKeys({...map, values: weights, n_learned: layer.n_learned}));
    this.spoken.textContent = `${name}. ${bestOf({...map, values: weights})}`;
  }

  /** The names of queries and keys: tokens of the text, or those that a decoder reads; learned keys come first. */
  names({queries, keys, n_learned: learned}) {
    const {tokens} = this.data;
    const side = {text: tokens, decoder: ["start", ...tokens.slice(0, -1)]};
    const extra = Array.from({length: learned}, (_, i) => `learned ${i + 1}`);
    return {
      queries: side[queries], keys: [...extra, ...side[keys]],
      rows: tokens.length, columns: tokens.length + learned,
    };
  }

  /** Fetch one matrix of the chosen head, unless it is here. */
  async numbers(matrix) {
    const {layer, head, kept} = this;
    const key = `${layer} ${head} ${matrix}`;
    if (!kept.has(key)) kept.set(key, postForNumbers("/api/attention/head", {...this.asked, layer, head, matrix}));
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
    try {
      return await kept.get(key);
    } catch (error) {
      kept.delete(key);
      throw error;
    }
  }

  json() {
    const {run, text, pair} = this.asked;
    const matrix = this.asArcs ? "weights" : this.matrix;
    const layer = this.data.layers[this.layer].name;
    return matrixJson(this.map, {run, text, pair, layer, head: this.head + 1, matrix});
  }

  async save(ending, make) {
    const name = [this.asked.run, this.data.layers[this.layer].name, `head ${this.head + 1}`, this.asArcs ? "arcs" : this.matrix];
    save(await make(), fileName(name, ending));
  }
}

function lengthOf({tokens, is_cut: isCut}) {
  return `${tokens.length} tokens${isCut ? "; the model reads no more than these, the rest is cut off" : ""}.`;
}

/** A labelled list of choices; `set` chooses without calling back. */
function choice(label, options, onchange) {
  const select = h("select", {onchange: () => onchange(select.value)},
    Object.entries(options).map(([value, words]) => h("option", {value}, words)));
  const set = (value, {disabled = false} = {}) => {
    select.value = String(value);
    select.disabled = disabled;
  };
  return {element: h("label", {}, label, select), set};
}
