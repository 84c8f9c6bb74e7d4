// The coordinates of one point, by slider and by number.

import {h} from "../dom.js";

/** Choose a point by name and set its coordinates; `on` has choose(id) and move(id, axis, x). */
export function coordinates(on) {
  const choice = h("select", {onchange: () => on.choose(choice.value)});
  const rows = h("div", {class: "coordinates"});
  const element = h("fieldset", {}, h("legend", {}, "Exact values"), h("label", {}, "Point ", choice), rows);
  let shown = "";
  return {
    element,
    draw({points, chosen, reach}) {
      const names = points.map(({id}) => id).join();
      if (choice.dataset.names !== names) {
        choice.replaceChildren(...points.map(({id, label}) => h("option", {value: id}, label)));
        choice.dataset.names = names;
      }
      choice.value = chosen;
      const {at} = points.find(({id}) => id === chosen);
      if (shown !== `${chosen} ${at.length}`) {
        rows.replaceChildren(...at.map((_, axis) => rowOf(axis, (x) => on.move(chosen, axis, x))));
        shown = `${chosen} ${at.length}`;
      }
      at.forEach((x, axis) => fill(rows.children[axis], x, reach));
    },
  };
}

function rowOf(axis, move) {
  const named = `Coordinate ${axis + 1}`;
  const read = (event) => {
    const x = event.target.valueAsNumber;
    event.target.toggleAttribute("aria-invalid", Number.isNaN(x));
    if (!Number.isNaN(x)) move(x);
  };
  return h("div", {},
    h("span", {"aria-hidden": "true"}, String(axis + 1)),
    h("input", {type: "range", step: "any", "aria-label": `${named}, slider`, oninput: read}),
    h("input", {type: "number", step: "any", "aria-label": named, oninput: read}));
}

/** What is being typed is left alone. */
function fill(row, x, reach) {
  const [, slider, field] = row.children;
  slider.min = -reach;
  slider.max = reach;
  slider.value = x;
  if (document.activeElement !== field) field.value = x;
}
