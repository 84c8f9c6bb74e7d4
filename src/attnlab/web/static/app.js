// The router: what follows # in the address names a view in views/, loaded when it is first seen.

import {h, showError} from "./dom.js";

const NAMES = ["runs", "compare", "playground", "attention", "ask", "classify", "write", "jobs"];
const ONE = {runs: "run", jobs: "job"}; // the view of one of them, if the address names it
const main = document.getElementById("main");
const themeSwitch = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
let cleanup;
let visit = 0;

/** Read "#/runs/demo/reader?split=dev" as a view, the rest of the path, and the query. */
function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [first, ...rest] = path.split("/");
  const inside = rest.map(decodeURIComponent).join("/");
  const view = first || "runs";
  if (!NAMES.includes(view)) throw new Error(`There is no view called ${view}.`);
  const file = (inside && ONE[view]) || view;
  return {view, file, params: {path: inside, query: new URLSearchParams(query)}};
}

async function show() {
  const mine = ++visit;
  cleanup?.();
  cleanup = undefined;
  const root = h("div", {class: "view"});
  main.replaceChildren(root, h("p", {class: "loading"}, "Loading …"));  // until the view shows something
  try {
    const {view, file, params} = parse(location.hash);
    mark(view === "compare" ? "runs" : view);
    const {title, render} = await import(`./views/${file}.js`);
    if (mine !== visit) return;
    document.title = `${params.path || title} · attnlab`;
    const done = await render(root, params);
    if (mine === visit) cleanup = done;
    else done?.();
  } catch (error) {
    if (mine === visit) showError(root, error);
  }
}

/** Tell the eye and the screen reader which entry of the menu this is. */
function mark(name) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** The theme that was chosen here, or else the system's. */
function setTheme() {
  const theme = localStorage.getItem("theme") ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  themeSwitch.textContent = theme === "dark" ? "Light" : "Dark";
}

setTheme();
system.addEventListener("change", setTheme);
themeSwitch.addEventListener("click", () => {
  localStorage.setItem("theme", themeSwitch.textContent.toLowerCase());
  setTheme();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // what follows # belongs to the router
  main.focus();
});
addEventListener("hashchange", () => {
  show();
  main.focus({preventScroll: true});
});
show();
