// One run: how far it is, its curves while it trains, what it came to. Or a study and its cells.

import {blocks, list, scrolling} from "../blocks.js";
import {curves, intervals} from "../charts.js";
import {getJson, h, showError} from "../dom.js";
import {goOn, timeLeft} from "../job_state.js";
import {modelLinks} from "../model_links.js";
import {predictions} from "../predictions.js";
import {badge, pageOf, result} from "./runs.js";

export const title = "Run";

const when = new Intl.DateTimeFormat("en-GB", {dateStyle: "medium", timeStyle: "short"});

export async function render(root, {path}) {
  const load = () => getJson(`/api/runs/detail?name=${encodeURIComponent(path)}`);
  const data = await load();
  if (data.kind === "study") {
    root.append(study(data));
    return undefined;
  }
  const place = {
    state: h("div", {role: "status"}), goOn: h("div"), curves: h("div", {class: "panels"}), results: h("div"),
  };
  const above = data.study && h("a", {href: pageOf(data.study)}, data.study);
  const show = (now) => {
    showState(place.state, now);
    place.goOn.replaceChildren(...goOn(now));
    place.results.replaceChildren(...results(now));
    if (now.state === "finished") modelLinks(path).then((links) => place.goOn.replaceChildren(...links), () => {});
  };
  root.append(h("div", {}, h("h1", {}, path), above && h("p", {}, "A cell of ", above, "."),
    h("p", {class: "quiet"}, about(data)), place.state, place.goOn, place.curves, place.results));
  show(data);
  return follow(path, place, async () => show(await load()));
}

/** Draw the curves whenever they grow; when training has ended, show what the run came to. */
function follow(path, place, finish) {
  let wasRunning = false;
  const source = new EventSource(`/api/runs/events?name=${encodeURIComponent(path)}`);
  source.addEventListener("curves", ({data}) => {
    const now = JSON.parse(data);
    wasRunning ||= now.state === "running";
    if (wasRunning) showState(place.state, now);
    place.curves.replaceChildren(...now.panels.map(curves));
  });
  source.addEventListener("problem", ({data}) => {
    source.close();
    showError(place.curves, new Error(JSON.parse(data).error));
  });
  source.addEventListener("end", () => {
    source.close();
    if (wasRunning) finish().catch((error) => showError(place.results, error));
  });
  return () => source.close();
}

function about({job, model}) {
  return [job, model].filter((one) => one && one !== "–").join(" · ");
}

function showState(place, now) {
  const {failure} = now;
  const progress = now.progress === "begun" ? null : now.progress;  // the state says as much
  const [done, total] = /step ([\d,]+) of ([\d,]+)/.exec(progress ?? "")?.slice(1) ?? [];
  const count = (text) => Number(text.replaceAll(",", ""));
  place.replaceChildren(h("div", {}, h("p", {}, badge(now), progress && `, ${progress}`,
    now.state === "running" && timeLeft(now.seconds_left)),
    total && h("progress", {value: count(done), max: count(total), "aria-label": progress}),
    failure && h("div", {class: "warning"}, h("p", {}, failure.message),
      h("p", {class: "quiet"}, h("time", {datetime: failure.time}, when.format(new Date(failure.time)))))));
}

function results({name, scores, summary, details, splits, made}) {
  const drawn = Object.entries(scores).map(([split, score]) => ({...score, name: split}));
  return [
    ...(drawn.length ? [h("h2", {}, "Scores"), intervals(drawn)] : []),
    ...blocks(summary), ...blocks(details), ...(splits.length ? [predictions(name, splits)] : []),
    h("details", {}, h("summary", {}, "Settings, and how it was made"),
      blocks(made.filter(({kind}) => kind !== "heading"))),
  ];
}

function study(data) {
  const state = h("div", {role: "status"});
  showState(state, data);
  return h("div", {},
    h("h1", {}, data.title ?? data.name), h("p", {class: "quiet"}, `${data.name} · ${about(data)}`),
    state, goOn(data), data.notes.length > 0 && list(data.notes),
    data.problem && h("p", {class: "warning"}, data.problem),
    blocks(data.summary), h("h2", {}, "Cells"), cellTable(data));
}

function cellTable({cells, waiting}) {
  const columns = ["name", "job", "model", "score [95 %]", "state"];
  const begun = cells.map((one) => {
    const link = h("a", {href: pageOf(one.name)}, one.name.split("/").at(-1));
    return [link, one.job, one.model, result(one), badge(one)];
  });
  const rows = [...begun, ...waiting.map((name) => [name, "", "", "", "not begun"])];
  return scrolling("Cells", h("table", {},
    h("thead", {}, h("tr", {}, columns.map((one) => h("th", {scope: "col"}, one)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}
