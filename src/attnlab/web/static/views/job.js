// One job that was started here: its progress, its curve while it trains, what it printed.

import {curves} from "../charts.js";
import {getJson, h, showError} from "../dom.js";
import {jobState, tell} from "../job_state.js";
import {pageOf} from "./runs.js";

export const title = "Job";

export async function render(root, {path: name}) {
  const job = (await getJson("/api/jobs")).started.find((one) => one.name === name);
  root.append(h("h1", {}, name));
  if (!job) {
    root.append(h("p", {class: "warning"}, "This server has not started a job of this name. Its run may be ",
      h("a", {href: "#/runs"}, "in the list"), "."));
    return undefined;
  }
  const page = new JobPage(root, job);
  page.follow();
  return () => page.source.close();
}

class JobPage {
  constructor(root, job) {
    this.name = job.name;
    this.state = h("div");
    this.said = h("p", {class: "unseen", role: "status"}); // a screen reader hears of states, not of steps
    this.run = h("p");
    this.panels = h("div", {class: "panels"});
    this.log = h("pre", {class: "log", tabindex: "0", role: "region", "aria-label": "What it printed last"});
    root.append(h("p", {class: "quiet"}, job.job), this.said, this.state, this.run, this.panels,
      h("h2", {}, "What it printed last"), this.log);
  }

  /** Draw whatever changes, until the job has ended. */
  follow() {
    this.source?.close();
    this.source = new EventSource(`/api/jobs/events?name=${encodeURIComponent(this.name)}`);
    this.source.addEventListener("job", ({data}) => this.show(JSON.parse(data)));
    this.source.addEventListener("end", () => this.source.close());
  }

  show(job) {
    const hadFocus = this.state.contains(document.activeElement);
    this.state.replaceChildren(...jobState(job, (what) => this.act(what)));
    if (this.said.textContent !== job.state) this.said.textContent = job.state;
    if (hadFocus) this.state.querySelector("button")?.focus();
    this.run.replaceChildren(...this.links(job));
    this.panels.replaceChildren(...job.panels.map(curves));
    this.log.textContent = job.log.join("\n") || "Nothing yet.";
  }

  links({is_begun: isBegun, cell}) {
    if (!isBegun) return [];
    const inner = cell && cell !== this.name && h("a", {href: pageOf(cell)}, cell.split("/").at(-1));
    return [h("a", {href: pageOf(this.name)}, "Open its page in Runs"), ...(inner ? [" · ", inner] : [])];
  }

  async act(what) {
    try {
      await tell(this.name, what);
      this.follow();
    } catch (error) {
      showError(this.state, error);
    }
  }
}
