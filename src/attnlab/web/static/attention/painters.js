// Two ways to paint one figure: on a canvas, and as the text of an SVG file.

const FONT = "system-ui, sans-serif";
const ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};

/** Paint on a canvas that is made as large as the figure. */
export function canvasPainter(canvas, {width, height, scale}) {
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.textBaseline = "middle";
  return {
    box(x, y, w, h, color) {
      context.fillStyle = color;
      context.fillRect(x, y, w, h);
    },
    frame(x, y, w, h, color) {
      context.strokeStyle = color;
      context.lineWidth = 1.5;
      context.strokeRect(x, y, w, h);
    },
    image(source, x, y, w, h) {
      context.imageSmoothingEnabled = false;
      context.drawImage(source, x, y, w, h);
    },
    curve(x1, y1, x2, y2, {color, alpha, width: thick}) {
      const middle = (x1 + x2) / 2;
      context.globalAlpha = alpha;
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(middle, y1, middle, y2, x2, y2);
      context.stroke();
      context.globalAlpha = 1;
    },
    text(words, x, y, {color, size, anchor = "start", turn = 0, bold = false}) {
      context.save();
      context.translate(x, y);
      context.rotate((turn * Math.PI) / 180);
      context.font = `${bold ? "bold " : ""}${size}px ${FONT}`;
      context.textAlign = anchor === "middle" ? "center" : anchor;
      context.fillStyle = color;
      context.fillText(words, 0, 0);
      context.restore();
    },
  };
}

/** Write an SVG file; `file()` is its text. A heat map is a picture in it, everything else lines and text. */
export function svgPainter({width, height}) {
  const parts = [];
  const number = (value) => Number(value.toFixed(2));
  const put = (tag, attributes, content = "") => {
    const written = Object.entries(attributes).map(([name, value]) => (
      ` ${name}="${typeof value === "number" ? number(value) : escaped(value)}"`));
    parts.push(`<${tag}${written.join("")}>${escaped(content)}</${tag}>`);
  };
  return {
    box: (x, y, w, h, fill) => put("rect", {x, y, width: w, height: h, fill}),
    frame: (x, y, w, h, stroke) => put("rect", {x, y, width: w, height: h, fill: "none", stroke, "stroke-width": 1.5}),
    image: (source, x, y, w, h) => put("image", {
      x, y, width: w, height: h, href: source.toDataURL("image/png"),
      preserveAspectRatio: "none", "image-rendering": "pixelated",
    }),
    curve(x1, y1, x2, y2, {color, alpha, width: thick}) {
      const [a, b, c, d, middle] = [x1, y1, x2, y2, (x1 + x2) / 2].map(number);
      put("path", {
        d: `M${a} ${b}C${middle} ${b} ${middle} ${d} ${c} ${d}`,
        fill: "none", stroke: color, "stroke-opacity": alpha, "stroke-width": thick,
      });
    },
    text: (words, x, y, {color, size, anchor = "start", turn = 0, bold = false}) => put("text", {
      transform: `translate(${number(x)} ${number(y)}) rotate(${turn})`, fill: color, "font-size": size,
      "text-anchor": anchor, "dominant-baseline": "central", "font-weight": bold ? "bold" : "normal",
      "font-family": FONT,
    }, words),
    file: () => `<svg xmlns="http://www.w3.org/2000/svg" width="${number(width)}" height="${number(height)}"`
      + ` viewBox="0 0 ${number(width)} ${number(height)}">${parts.join("\n")}</svg>\n`,
  };
}

/** Text for a file of XML: markup becomes text, and characters that XML cannot hold are left out. */
function escaped(text) {
  const plain = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, "�");
  return plain.replace(/[&<>"]/g, (one) => ESCAPES[one]);
}
