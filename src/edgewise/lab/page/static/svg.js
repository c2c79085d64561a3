// Small tools for drawing: elements, text of numbers, colours of columns.

const SVG = "http://www.w3.org/2000/svg";

/** Gives an element its attributes and children; null and undefined ones are left out. */
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

/** An HTML element. */
export function html(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

/** The class with the colour of column k. */
export const colour = (k) => `c${k % 8}`;

/** A number with four decimals, or with an exponent where these would say little. */
export function number(x, decimals = 4) {
  if (x === null || x === undefined) return "–";
  if (x !== 0 && Math.abs(x) < 0.5 * 10 ** -decimals) return x.toExponential(1).replace("-", "−");
  return x.toFixed(decimals).replace("-", "−");
}

/** "1 step", "2 steps" */
export const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The path data through points, or of a closed polygon. */
export function path(points, closed = false) {
  const corners = points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`);
  return corners.length ? `M${corners.join("L")}${closed ? "Z" : ""}` : "";
}

/** The path data of dots: subpaths of no length, which round line caps make visible. */
export function dots(points) {
  return points.map(([x, y]) => `M${x.toFixed(2)} ${y.toFixed(2)}h0`).join("");
}

/** Where weights or shares (barycentric coordinates) lie among given corners. */
export function combine(shares, corners) {
  let [x, y] = [0, 0];
  shares.forEach((share, i) => {
    x += share * corners[i][0];
    y += share * corners[i][1];
  });
  return [x, y];
}

/** The mean of some points. */
export function middle(points) {
  return combine(points.map(() => 1 / points.length), points);
}

/** The mean of some corners, moved by a share of the way to the one farthest from a centre. */
export function outwards(corners, centre, share) {
  const far = ([x, y]) => Math.hypot(x - centre[0], y - centre[1]);
  const outmost = corners.reduce((a, b) => (far(b) > far(a) ? b : a));
  return combine([1 - share, share], [middle(corners), outmost]);
}

/** A legend: entries are [class of the mark, text, shape "line", "dash" or "dot"]. */
export function legend(list, entries) {
  list.replaceChildren(
    ...entries.map(([name, text, shape]) =>
      html(
        "li",
        {},
        svg(
          "svg",
          { viewBox: "0 0 16 16", "aria-hidden": "true" },
          shape === "dot"
            ? svg("circle", { class: `dot ${name}`, cx: 8, cy: 8, r: 4 })
            : svg("path", { class: `${shape} ${name}`, d: "M0 8h16" }),
        ),
        text,
      ),
    ),
  );
}
