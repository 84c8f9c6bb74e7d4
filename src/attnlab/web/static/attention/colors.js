// Numbers as colours of the theme: weights from paper to blue, scores from orange over paper to blue.

const NAMES = ["ink", "quiet", "paper", "soft", "line", "accent", "series-1", "series-2"];

/** The colours of the theme as it is now. */
export function themeColors() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** A picture with one pixel per number; what is −∞ (hidden by the mask) is grey. */
export function pictureOf({values, rows, columns, isWeights}, colors) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const picture = context.createImageData(columns, rows);
  const [paper, high, low, hidden] = ["paper", "series-1", "series-2", "line"].map((name) => rgb(colors[name]));
  const top = largest(values) || 1;
  values.forEach((value, i) => {
    const share = Math.min(1, Math.abs(value) / top);
    const tint = isWeights ? Math.sqrt(share) : share;
    const end = value < 0 ? low : high;
    for (let part = 0; part < 3; part += 1) {
      const mixed = paper[part] + tint * (end[part] - paper[part]);
      picture.data[4 * i + part] = Number.isFinite(value) ? mixed : hidden[part];
    }
    picture.data[4 * i + 3] = 255;
  });
  context.putImageData(picture, 0, 0);
  return canvas;
}

/** The largest number that is finite, without its sign. */
export function largest(values) {
  let top = 0;
  for (const value of values) if (Number.isFinite(value) && Math.abs(value) > top) top = Math.abs(value);
  return top;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}
