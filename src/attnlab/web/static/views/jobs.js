// Jobs: those that were started here, and a form to start another.

import {getJson, h, postJson, showError} from "../dom.js";
import {errorOf, markedIn, settingsForm} from "../forms.js";
import {jobState, pageOfJob, tell} from "../job_state.js";

export const title = "Jobs";
const FIRST = "knowledge-demo";
const REFRESH = 2000;
const NAME = "run-name"; // the field of the name, also where the server says what is wrong with it

/** `#/jobs?job=NAME` begins with the form of that job. */
export async function render(root, {query}) {
  const {jobs, started} = await getJson("/api/jobs");
  const here = h("div");
  const form = h("div");
  const choose = h("select", {onchange: () => showForm(form, choose)},
    jobs.map(({name}) => h("option", {value: name}, name)));
  choose.value = jobs.some(({name}) => name === query.get("job")) ? query.get("job") : FIRST;
  root.append(h("h1", {}, title), here, h("h2", {}, "Start a job"),
    h("div", {class: "controls"}, h("label", {}, "Job", choose)), form);
  showStarted(here, started);
  await showForm(form, choose);
  const timer = setInterval(() => refresh(here), REFRESH);
  return () => clearInterval(timer);
}

/** Look again, but not while somebody is at one of the buttons. */
async function refresh(place) {
  if (document.hidden || place.contains(document.activeElement)) return;
  try {
    showStarted(place, (await getJson("/api/jobs")).started);
  } catch (error) {
    showError(place, error);
  }
}

function showStarted(place, started) {
  const act = (name) => async (what) => {
    try {
      await tell(name, what);
      location.hash = pageOfJob(name);
    } catch (error) {
      showError(place, error);
    }
  };
  const items = started.map((job) => h("li", {},
    h("p", {}, h("a", {href: pageOfJob(job.name)}, job.name), ` · ${job.job}`), jobState(job, act(job.name))));
  place.replaceChildren(...(items.length
    ? [h("h2", {}, "Started here"), h("ul", {class: "started"}, items)]
    : [h("p", {class: "quiet"}, "No job has been started here yet.")]));
}

/** Show the form of the chosen job, unless another is chosen while it comes. */
async function showForm(place, choose) {
  const job = choose.value;
  try {
    const [{summary, fields, folders}, {runs}] = await Promise.all(
      [getJson(`/api/jobs/form?job=${encodeURIComponent(job)}`), getJson("/api/runs")]);
    if (choose.value !== job) return;
    const names = runs.flatMap((one) => [one, ...one.cells]).map(({name}) => name);
    place.replaceChildren(formOf(job, summary, settingsForm(fields, names), folders));
  } catch (error) {
    if (choose.value === job) showError(place, error);
  }
}

function formOf(job, summary, settings, folders) {
  const name = h("input", {id: NAME, autocomplete: "off", "aria-describedby": `${NAME}-help ${NAME}-error`});
  const wrongName = errorOf(NAME, name);
  const problem = h("div");
  const submit = async (event) => {
    event.preventDefault();
    problem.replaceChildren();
    wrongName.fail();
    try {
      const order = {job, name: name.value.trim() || null, values: settings.values()};
      const {name: given} = await postJson("/api/jobs/start", order);
      location.hash = pageOfJob(given);
    } catch (error) {
      showError(problem, markedIn(settings, error, {[NAME]: wrongName}));
    }
  };
  const files = `Jobs started here read files only under ${folders.join(" and ")}, and run no code of your own.`;
  return h("form", {onsubmit: submit, novalidate: true, "aria-label": `Settings of ${job}`},
    h("p", {}, `${summary[0].toUpperCase()}${summary.slice(1)}${/[.?]$/.test(summary) ? "" : "."}`),
    h("p", {class: "quiet"}, files),
    h("div", {class: "fields"}, h("div", {class: "field"},
      h("label", {for: NAME}, "Name of the run"), name,
      h("p", {class: "quiet", id: `${NAME}-help`}, "If left empty, the run is named after its job and settings."),
      wrongName.element)),
    settings.element, problem, h("p", {class: "controls"}, h("button", {class: "primary"}, "Start")));
}
