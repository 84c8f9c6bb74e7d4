// The figure of one head: painted on a canvas, read by the pointer, saved as a file.

import {h} from "../dom.js";
import {arcsLayout, heightOf, paintArcs, queryAt} from "./arcs.js";
import {pictureOf, themeColors} from "./colors.js";
import {cellAt, heatLayout, paintHeatMap, percent, shown} from "./heat_map.js";
import {canvasPainter, svgPainter} from "./painters.js";

const WIDTH = 760; // of a file
const LARGE = 6000; // pixels; a taller canvas is not drawn finer than the screen needs

/** `onchoose(row)` is called with a query that was clicked. */
export function headFigure({onchoose}) {
  const canvas = h("canvas", {role: "img"});
  const readout = h("p", {class: "readout quiet"});
  const box = h("div", {class: "picture", tabindex: "0", role: "region", "aria-label": "Figure"}, canvas);
  const element = h("figure", {}, box, h("figcaption", {}, readout));
  let map, layout, picture, pictured;

  const paint = () => {
    if (!map) return;
    const colors = themeColors();
    const theme = JSON.stringify(colors);
    if (pictured?.values !== map.values || pictured.theme !== theme) {
      picture = pictureOf(map, colors);
      pictured = {values: map.values, theme};
    }
    layout = layoutOf(map, box.clientWidth || WIDTH);
    const scale = layout.height > LARGE ? 1 : devicePixelRatio;
    canvas.style.setProperty("width", `${layout.width}px`);
    canvas.style.setProperty("height", `${layout.height}px`);
    paintOn(canvasPainter(canvas, {...layout, scale}), map, {layout, colors, picture});
  };
  const placeOf = ({offsetX, offsetY}) => (map.asArcs
    ? {row: queryAt(map, layout, offsetX, offsetY)} : cellAt(map, layout, offsetX, offsetY));
  canvas.addEventListener("pointermove", (event) => {
    const at = map && placeOf(event);
    readout.textContent = at?.column === undefined ? hintOf(map) : inWords(map, at);
  });
  canvas.addEventListener("pointerleave", () => { readout.textContent = hintOf(map); });
  canvas.addEventListener("click", (event) => {
    const row = placeOf(event)?.row ?? null;
    if (row !== null) onchoose(row);
  });
  return {
    element, paint,
    show(next, label) {
      map = next;
      canvas.setAttribute("aria-label", label);
      box.classList.toggle("tall", map.asArcs);
      readout.textContent = hintOf(map);
      paint();
      if (map.asArcs) reveal(box, heightOf(layout, map.chosen));
    },
    /** The figure as a file of its own, however wide the screen is. */
    svg() {
      const size = layoutOf(map, WIDTH), painter = svgPainter(size);
      paintOn(painter, map, {layout: size, colors: themeColors(), picture});
      return new Blob([painter.file()], {type: "image/svg+xml"});
    },
    png() {
      const size = layoutOf(map, WIDTH), file = document.createElement("canvas");
      paintOn(canvasPainter(file, {...size, scale: size.height > LARGE ? 1 : 2}), map, {
        layout: size, colors: themeColors(), picture,
      });
      return new Promise((done) => { file.toBlob(done, "image/png"); });
    },
  };
}

/** What the pointer can do here. */
function hintOf(map) {
  if (!map) return "";
  return map.asArcs ? "Click a token on the left to choose it." : "Point at a cell to read it; click to choose its row.";
}

/** Scroll a box to a height, unless that is in sight. */
function reveal(box, height) {
  const {scrollTop, clientHeight} = box;
  if (height < scrollTop || height > scrollTop + clientHeight) box.scrollTop = height - clientHeight / 2;
}

function layoutOf(map, width) {
  return (map.asArcs ? arcsLayout : heatLayout)(map, width);
}

function paintOn(painter, map, given) {
  (map.asArcs ? paintArcs : paintHeatMap)(painter, map, given);
}

function inWords({queries, keys, values, columns, isWeights}, {row, column}) {
  const value = values[row * columns + column];
  const number = isWeights ? percent(value) : value.toFixed(3);
  return `${shown(queries[row])} → ${shown(keys[column])}: ${Number.isFinite(value) ? number : "hidden by the mask"}`;
}
