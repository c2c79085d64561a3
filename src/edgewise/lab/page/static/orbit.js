// The picture of the weights: a triangle for three examples, a polygon or two axes for others.

import { colour, combine, dots, middle, number, outwards, path, svg } from "./svg.js";

const WIDTH = 560;
const HEIGHT = 440;
const TRAIL = 10; // steps of the way here that stay visible
const FOLLOWED = 300; // steps up to which the eye can follow a line
const LABELLED = 24; // corners up to which labels have room
const TRIANGLE = [[64, 402], [496, 402], [280, 28]];

/** The corners of the simplex: a triangle, or m points on a circle from the top, clockwise. */
function cornersOf(m) {
  if (m === 3) return TRIANGLE;
  return Array.from({ length: m }, (_, i) => {
    const angle = (2 * Math.PI * i) / m - Math.PI / 2;
    return [WIDTH / 2 + 190 * Math.cos(angle), HEIGHT / 2 + 190 * Math.sin(angle)];
  });
}

/** The weights whose place in the triangle is nearest to a point, about. */
function weightsAt([x, y]) {
  const [[ax, ay], [bx, by], [cx, cy]] = TRIANGLE;
  const det = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  const a = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / det;
  const b = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / det;
  const inside = [a, b, 1 - a - b].map((weight) => Math.max(weight, 0));
  const total = inside.reduce((sum, weight) => sum + weight, 0);
  return inside.map((weight) => weight / total);
}

const ease = (share) => share * share * (3 - 2 * share);

export class OrbitPicture {
  /** `onStart(weights)` is called while the start is dragged, which three examples allow. */
  constructor(element, onStart) {
    this.element = element;
    this.places = [];
    this.background = svg("g");
    this.path = svg("path", { class: "orbit-path" });
    this.dots = svg("path", { class: "orbit-dots" });
    this.cycle = svg("path", { class: "cycle" });
    this.trail = Array.from({ length: TRAIL }, (_, k) =>
      svg("path", { class: "trail", "stroke-opacity": (1 - k / TRAIL).toFixed(2) }),
    );
    this.start = svg(
      "g",
      { class: "handle" },
      svg("title", {}, "the start"),
      svg("circle", { class: "reach", r: 24 }),
      svg("circle", { class: "start", r: 9 }),
    );
    this.point = svg("circle", { class: "point", id: "point", r: 6.5 });
    element.replaceChildren(
      this.background, this.path, this.dots, this.cycle, ...this.trail, this.start, this.point,
    );
    this.listen(onStart);
  }

  /** Draws an answer; view: {kind: "polygon" | "pair", pair: [i, j]}. */
  show(answer, view) {
    const m = answer.start.length;
    this.m = m;
    this.project = view.kind === "pair" && m > 3 ? this.pairs(answer, view.pair) : this.corners(m);
    this.places = answer.weights.map(this.project);
    const few = this.places.length <= FOLLOWED;
    this.path.setAttribute("d", few ? path(this.places) : "");
    this.dots.setAttribute("d", dots(this.places));
    this.dots.classList.toggle("many", !few);
    const cycle = answer.cycle.found ? answer.cycle.weights.map(this.project) : [];
    this.cycle.setAttribute("d", path(cycle, true));
    const [x, y] = this.project(answer.start);
    this.start.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    this.element.classList.toggle("draggable", m === 3);
    this.background.replaceChildren(...this.ground(answer, view));
    this.move(0);
  }

  corners(m) {
    const corners = cornersOf(m);
    return (weights) => combine(weights, corners);
  }

  /** The map to two axes, from 0 to the largest weight that is seen. */
  pairs(answer, [i, j]) {
    const all = [...answer.weights, answer.start];
    this.most = [i, j].map((k) => Math.max(1e-6, ...all.map((weights) => weights[k])) * 1.05);
    const [mostX, mostY] = this.most;
    return (weights) => [60 + (weights[i] / mostX) * 470, 390 - (weights[j] / mostY) * 365];
  }

  ground(answer, view) {
    if (this.m > 3 && view.kind === "pair") return this.axes(view.pair);
    const corners = cornersOf(this.m);
    const outline = svg("path", { class: "outline", d: path(corners, true) });
    const shades = answer.triangle ? this.triangle(answer.triangle) : [];
    return [...shades, outline, ...(this.m <= LABELLED ? this.labels(corners) : [])];
  }

  labels(corners) {
    const centre = middle(corners);
    return corners.map(([x, y], i) => {
      const [dx, dy] = [x - centre[0], y - centre[1]];
      const length = Math.hypot(dx, dy) || 1;
      const place = { x: x + (16 * dx) / length, y: y + (16 * dy) / length + 4 };
      const text = this.m === 3 ? `example ${i}` : String(i);
      return svg("text", { class: "corner", "text-anchor": "middle", ...place }, text);
    });
  }

  /** Who has the largest edge where, and the lines on which an edge is zero. */
  triangle({ regions, lines }) {
    const centre = middle(TRIANGLE);
    const shades = regions.map(({ columns, polygon }) => {
      const corners = polygon.map(this.project);
      const names = columns.map((j) => `h${j}`).join(" = ");
      const [x, y] = outwards(corners, centre, 0.4); // off the lines
      return svg(
        "g",
        { class: colour(columns[0]) },
        svg("path", { class: "region", d: path(corners, true) }),
        svg("text", { class: "region-name", x, y, "text-anchor": "middle" }, names),
      );
    });
    return [
      ...shades,
      ...lines.map((ends) => svg("path", { class: "zero-edge", d: path(ends.map(this.project)) })),
    ];
  }

  axes([i, j]) {
    const [mostX, mostY] = this.most;
    const text = (x, y, anchor, words) =>
      svg("text", { class: "tick", x, y, "text-anchor": anchor }, words);
    return [
      svg("path", { class: "axis", d: "M60 25V390H530" }),
      text(530, 408, "end", number(mostX, 3)),
      text(52, 34, "end", number(mostY, 3)),
      text(52, 394, "end", "0"),
      text(295, 412, "middle", `weight of example ${i}`),
      svg(
        "text",
        { class: "tick", "text-anchor": "middle", transform: "translate(40 208) rotate(-90)" },
        `weight of example ${j}`,
      ),
    ];
  }

  /** Where the orbit is at a time between steps. */
  place(time) {
    const step = Math.min(Math.floor(time), this.places.length - 1);
    const here = this.places[step];
    const next = this.places[step + 1] ?? here;
    const share = ease(time - step);
    return [here[0] + share * (next[0] - here[0]), here[1] + share * (next[1] - here[1])];
  }

  /** Moves the point and its trail to a time. */
  move(time) {
    if (!this.places.length) return;
    const [x, y] = this.place(time);
    this.point.setAttribute("cx", x.toFixed(2));
    this.point.setAttribute("cy", y.toFixed(2));
    let to = [x, y];
    let step = Math.ceil(time) - 1;
    for (const segment of this.trail) {
      const from = this.places[step];
      segment.setAttribute("d", step >= 0 ? path([from, to]) : "");
      to = from;
      step -= 1;
    }
  }

  listen(onStart) {
    let dragging = false;
    const place = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY);
      const { x, y } = at.matrixTransform(this.element.getScreenCTM().inverse());
      return [x, y];
    };
    this.element.addEventListener("pointerdown", (event) => {
      const onHandle = this.start.contains(event.target);
      if (this.m !== 3 || !(onHandle || event.pointerType === "mouse")) return; // fingers scroll
      dragging = true;
      this.element.setPointerCapture(event.pointerId);
      onStart(weightsAt(place(event)));
    });
    this.element.addEventListener("pointermove", (event) => {
      if (dragging) onStart(weightsAt(place(event)));
    });
    for (const end of ["pointerup", "pointercancel"]) {
      this.element.addEventListener(end, () => {
        dragging = false;
      });
    }
  }
}
