// How far a job is: state, progress bar, time left, and the buttons that stop it or go on with it.

import {h, postJson, showError} from "./dom.js";

const GOES_ON = ["stopped", "failed"];

/** The address of a job's page. */
export function pageOfJob(name) {
  return `#/jobs/${encodeURIComponent(name)}`;
}

/** Show a job; `act` does what a button says: stop, or resume. */
export function jobState(job, act) {
  const {name, state, progress, share, said} = job;
  const value = share ?? (state === "running" ? null : 0);
  const words = progress ?? state;
  return [
    h("p", {}, h("span", {class: `state ${state}`}, state), progress && `, ${progress}`,
      state === "running" && timeLeft(job.seconds_left, job.cell !== name && "of this cell's training")),
    state !== "finished" && h("progress", {max: 1, value, "aria-label": `${name}: ${words}`}),
    state === "failed" && h("p", {class: "warning"}, said),
    state === "stopped" && h("p", {class: "quiet"}, "Its progress is saved; resume it at any time."),
    state === "running" && h("p", {}, h("button", {type: "button", onclick: () => act("stop")}, "Stop")),
    GOES_ON.includes(state) && h("p", {}, goOnButton(() => act("resume"))),
  ].filter(Boolean);
}

/** Stop a job, or go on with it. */
export function tell(name, what) {
  return postJson(`/api/jobs/${what}`, {name});
}

/** The button of an unfinished run, however it was started; a cell goes on with its study. */
export function goOn({name, state}) {
  if (!GOES_ON.includes(state) || name.includes("/")) return [];
  const problem = h("div");
  const act = () => tell(name, "resume").then(
    () => { location.hash = pageOfJob(name); }, (error) => showError(problem, error));
  return [h("p", {}, goOnButton(act)), problem];
}

function goOnButton(onclick) {
  return h("button", {type: "button", class: "primary", onclick}, "Resume");
}

/** How long training still takes, in words; nothing if that is not known. */
export function timeLeft(seconds, what) {
  if (seconds === null || seconds === undefined) return null;
  const minutes = Math.round(seconds / 60);
  const long = minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
  return ` (about ${seconds < 90 ? `${Math.ceil(seconds)} s` : long} left${what ? ` ${what}` : ""})`;
}
