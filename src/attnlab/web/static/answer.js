// An answer: its verdict with the reason, other answers, where the model looked, the corpus.

import {list, scrolling, table} from "./blocks.js";
import {h} from "./dom.js";

const MARK = "⁇"; // SENTINEL of attnlab.data.tokenizer

/** An answer as /api/ask gives it: what it is, and whether to believe it. */
export function answerHead(answer) {
  const {verdict, reason, warnings} = answer;
  return [
    h("p", {class: "answer-text"}, h("strong", {}, answer.text || "(nothing)"),
      h("span", {class: `verdict ${verdict.replace(" ", "-")}`}, verdict)),
    h("p", {}, `${reason[0].toUpperCase()}${reason.slice(1)}.`),
    h("p", {class: "quiet"}, `${sure(answer)}.`),
    ...(warnings.length ? [h("div", {class: "warning"}, list(warnings))] : []),
  ];
}

/** What the answer rests on. */
export function answerDetails(answer) {
  return [...others(answer), ...corpus(answer), ...looks(answer.looks)];
}

function percent(share) {
  return `${(100 * share).toFixed(0)} %`;
}

function sure({probability, agreement, certainty}) {
  const all = certainty === null ? "" : `; certainty by all signals ${percent(certainty)}`;
  return `Confidence ${percent(probability)}; ${percent(agreement)} of the sampled answers agree${all}`;
}

function others({runners_up: runnersUp}) {
  if (!runnersUp.length) return [];
  const rows = runnersUp.map(([text, likely]) => [text || "(nothing)", percent(likely)]);
  return [h("h2", {}, "Also sampled"), table({columns: ["answer", "probability"], rows}, "Also sampled")];
}

/** What the corpus says about the person, with the answer marked where it stands. */
function corpus({corpus: state, lines, n_lines: count, text, person}) {
  const nobody = person ? `The corpus has no line about ${person}.` : "The question names nobody in the corpus.";
  const words = {
    known: nobody, lost: "The corpus that the model has read is missing, or has changed.",
    "no names": "The model has read running text, which has no line for each person.",
  }[state];
  const more = count > lines.length && h("p", {class: "quiet"}, `The first ${lines.length} of ${count} lines:`);
  const said = h("ul", {class: "corpus"}, lines.map((line) => h("li", {}, marked(line, text))));
  return [h("h2", {}, "What the corpus says"), ...(lines.length ? [more, said] : [h("p", {}, words)])].filter(Boolean);
}

function marked(line, text) {
  if (!text || !line.includes(text)) return line;
  const parts = line.split(text);
  return parts.flatMap((part, i) => (i ? [h("mark", {}, text), part] : [part]));
}

/** One row per token of the answer, one column per token that it could look at. */
function looks({problem, tokens, n_question: count, layers}) {
  const heading = h("h2", {}, "Where it looked");
  if (problem) return [heading, h("p", {}, problem)];
  const place = h("div");
  const draw = (layer) => place.replaceChildren(lookTable(tokens, count, layers[layer]));
  const choice = h("select", {onchange: ({target}) => draw(Number(target.value))},
    layers.map((_, i) => h("option", {value: i, selected: i === layers.length - 1}, `layer ${i + 1}`)));
  draw(layers.length - 1);
  return [heading, h("p", {class: "quiet"}, "Attention weight in percent, mean of the heads. Each row is a token of"
    + ` the answer, named by the token it was written after.${tokens.includes(MARK) ? ` ${MARK} marks where an answer begins.` : ""}`),
  h("div", {class: "controls"}, h("label", {}, "Layer", choice)), place];
}

function lookTable(tokens, count, rows) {
  const mark = (i) => (i === count ? "first-of-answer" : null);
  const strongest = Math.max(...rows.flat());
  return scrolling("Where it looked", h("table", {class: "looks"},
    h("thead", {}, h("tr", {}, h("td", {}),
      tokens.map((token, i) => h("th", {scope: "col", class: mark(i)}, visible(token))))),
    h("tbody", {}, rows.map((row, i) => h("tr", {},
      h("th", {scope: "row"}, `after ${visible(tokens[count - 1 + i])}`),
      row.map((weight, at) => h("td", {class: mark(at), style: {"--share": (weight / strongest).toFixed(3)}},
        at < count + i ? Math.round(100 * weight) : "")))))));
}

function visible(token) {
  return token.replaceAll(" ", "␣").replaceAll("\n", "⏎") || "∅";
}
