// The controls of the board: which example, how many dimensions, the temperature, the view in space.

import {h} from "../dom.js";
import {written} from "./explanation.js";

const COLDEST = -2; // log10 of the temperature at the left end of its slider, which stands for 0

/** `on` has what the controls do: load(name), size(dimensions), heat(temperature), look(). */
export function controls(examples, on) {
  const example = h("select", {onchange: () => on.load(example.value)},
    examples.map(({name}) => h("option", {value: name}, name)));
  const about = h("p", {class: "quiet"});
  const dimensions = h("select", {onchange: () => on.size(Number(dimensions.value))});
  const heat = h("input", {type: "range", min: COLDEST, max: 1, step: 0.05, oninput: () => on.heat(heatOf(heat))});
  const heatShown = h("span", {});
  const angle = (most, value) => h("input", {type: "range", min: -most, max: most, value, oninput: on.look});
  const [turn, tilt] = [angle(180, 25), angle(90, 25)];
  const space = h("div", {class: "controls"},
    h("label", {}, "Turn the view", turn), h("label", {}, "Tilt the view", tilt));
  const element = h("div", {class: "controls"},
    h("label", {}, "Example", example), h("label", {}, "Dimensions", dimensions),
    h("label", {}, h("span", {}, "Temperature T: ", heatShown), heat));
  return {
    element,
    about,
    space,
    angles: () => ({turn: turn.valueAsNumber, tilt: tilt.valueAsNumber}),
    begin(chosen) {
      example.value = chosen.name;
      about.textContent = `${chosen.about[0].toUpperCase()}${chosen.about.slice(1)}`;
    },
    draw({query, values, temperature}) {
      const sizes = [...new Set([2, 3, query.length])];
      dimensions.replaceChildren(...sizes.map((size) => h("option", {value: size}, String(size))));
      dimensions.value = query.length;
      heat.value = temperature === 0 ? COLDEST : Math.log10(temperature);
      heatShown.textContent = temperature === 0 ? "0, argmax" : written(temperature, 2);
      heat.setAttribute("aria-valuetext", heatShown.textContent);
      space.hidden = query.length !== 3 && values?.[0].length !== 3;
    },
  };
}

function heatOf(slider) {
  return slider.valueAsNumber <= COLDEST ? 0 : 10 ** slider.valueAsNumber;
}
