// Elements, requests and errors. Text enters the page as text only; nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";
const TOKEN_HEADER = "X-Attnlab-Token";
const NOTHING = [null, undefined, false];
const WORDS = /^(a|an|another|every|it|no|nothing|one|only|process|the|there|this|you|your) /;
let session;

/** Make an HTML element: h("a", {href: "#/runs", onclick: go}, "Runs"). */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Children may be nodes, texts, numbers, or lists of them; null, undefined and false are none. */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  const there = children.flat(Infinity).filter((one) => !NOTHING.includes(one));
  element.append(...there.map((one) => (one instanceof Node ? one : String(one))));
  return element;
}

/** Set one attribute; functions listen, and styles go in by the CSSOM, as the policy wants it. */
function set(element, name, value) {
  if (NOTHING.includes(value)) return;
  if (typeof value === "function") {
    element.addEventListener(name.replace(/^on/, ""), value);
  } else if (name === "style") {
    for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
  } else if (name === "href" && !/^[#/]/.test(value)) {
    throw new Error(`a link must stay on this server: ${value}`);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

/** Fetch JSON; an answer that is no success becomes an Error with the server's sentence. */
export async function getJson(path) {
  return answerOf(await reach(path));
}

/** Send JSON with the token, and return the JSON that comes back. */
export async function postJson(path, body) {
  return answerOf(await post(path, body));
}

/** Send JSON, and call `onEvent(name, data)` for every server-sent event of the answer. */
export async function postEvents(path, body, {signal, onEvent}) {
  const response = await post(path, body, signal);
  if (!response.ok) await answerOf(response);  // throws
  let rest = "";
  for await (const chunk of textOf(response.body)) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [name, data] = block.split("\n").map((line) => line.slice(line.indexOf(":") + 2));
      onEvent(name, JSON.parse(data));
    }
  }
}

async function* textOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let {value, done} = await reader.read(); !done; {value, done} = await reader.read()) yield value;
}

async function post(path, body, signal) {
  session ??= getJson("/api/session").catch((error) => {
    session = undefined;  // the next request asks again
    throw error;
  });
  const {token} = await session;
  const headers = {"Content-Type": "application/json"};
  if (token) headers[TOKEN_HEADER] = token;
  return reach(path, {method: "POST", headers, body: JSON.stringify(body), signal});
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;  // it was stopped here
    session = undefined;  // a server that comes back has another token
    throw new Error("The server does not answer. Is `attnlab serve` still running?");
  }
}

async function answerOf(response) {
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Error(answer.error ?? `The server answered with status ${response.status}.`);
  error.fields = answer.fields ?? {};  // of a form, what is wrong with each field
  throw error;
}

/** Show what went wrong in the place of what was asked for. */
export function showError(root, error) {
  root.replaceChildren(h("p", {class: "warning", role: "alert"}, capitalized(error.message ?? String(error))));
}

/** Begin a sentence with a capital, unless it begins with a name, a setting or a path. */
function capitalized(text) {
  return WORDS.test(text) ? `${text[0].toUpperCase()}${text.slice(1)}` : text;
}

/** Send JSON with the token, and return the float32 numbers that come back. */
export async function postForNumbers(path, body) {
  const response = await post(path, body);
  if (!response.ok) await answerOf(response);  // throws
  return new Float32Array(await response.arrayBuffer());
}
