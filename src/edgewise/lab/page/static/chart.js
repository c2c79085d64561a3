// A chart over steps: lines, dots and levels, with a cursor.

import { dots, path, svg } from "./svg.js";

const MARGIN = { left: 44, right: 20, top: 10, bottom: 26 };

/** Round numbers from low to high, about as many as wanted. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, k) => (first + k) * step);
}

/** Powers of ten, or of ten and their halves and fifths where there are few. */
function logTicks(low, high) {
  const found = [];
  for (let power = 1; power <= high; power *= 10) {
    for (const factor of high / low < 50 ? [1, 2, 5] : [1]) {
      const tick = factor * power;
      if (tick >= low && tick <= high) found.push(tick);
    }
  }
  return found;
}

const label = (value) => String(Number(value.toPrecision(6))).replace("-", "−");

export class Chart {
  /** `seek(x)` is called where the chart is pressed. */
  constructor(element, { seek = null } = {}) {
    this.element = element;
    this.data = null;
    new ResizeObserver(() => this.draw()).observe(element);
    if (seek) this.listen(seek);
  }

  /**
   * data: {x: [first, last], y: [low, high], log, xLabel, series: [{kind: "line" | "dots" |
   * "level", points | value, name (class), title}]}
   */
  show(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.data || !width || !height) return;
    this.width = width;
    this.height = height;
    const frame = { x: MARGIN.left, y: MARGIN.top, ...this.inner() };
    const clipId = `${this.element.id}-clip`;
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.cursor = svg("path", { class: "cursor" });
    this.element.replaceChildren(
      svg("clipPath", { id: clipId }, svg("rect", frame)),
      ...this.axes(),
      svg(
        "g",
        { "clip-path": `url(#${clipId})` },
        ...this.data.series.map((series) => this.series(series)),
      ),
      this.cursor,
    );
    this.point(this.at ?? null);
  }

  inner() {
    return {
      width: Math.max(this.width - MARGIN.left - MARGIN.right, 1),
      height: Math.max(this.height - MARGIN.top - MARGIN.bottom, 1),
    };
  }

  scaleX(x) {
    const [first, last] = this.data.x;
    const share = this.data.log
      ? Math.log(x / first) / Math.log(last / first || 2)
      : (x - first) / (last - first || 1);
    return MARGIN.left + share * this.inner().width;
  }

  scaleY(y) {
    const [low, high] = this.data.y;
    return MARGIN.top + (1 - (y - low) / (high - low || 1)) * this.inner().height;
  }

  axes() {
    const { x, y, log, xLabel } = this.data;
    const right = this.width - MARGIN.right;
    const bottom = this.height - MARGIN.bottom;
    const across = log ? logTicks(...x) : ticks(...x, Math.max(2, this.width / 90));
    const whole = across.filter((tick) => Number.isInteger(tick));
    return [
      ...ticks(...y, Math.max(2, this.height / 45)).flatMap((tick) => [
        svg("path", { class: "grid", d: `M${MARGIN.left} ${this.scaleY(tick)}H${right}` }),
        svg(
          "text",
          { class: "tick", x: MARGIN.left - 6, y: this.scaleY(tick) + 4, "text-anchor": "end" },
          label(tick),
        ),
      ]),
      ...whole.map((tick) =>
        svg(
          "text",
          { class: "tick", x: this.scaleX(tick), y: bottom + 16, "text-anchor": "middle" },
          label(tick),
        ),
      ),
      svg("path", { class: "axis", d: `M${MARGIN.left} ${bottom}H${right}` }),
      svg("text", { class: "tick", x: MARGIN.left - 10, y: bottom + 16, "text-anchor": "end" }, xLabel),
    ];
  }

  series({ kind, points, value, name, title }) {
    const right = this.width - MARGIN.right;
    const shapes = {
      line: () => path(points.map(([x, y]) => [this.scaleX(x), this.scaleY(y)])),
      dots: () => dots(points.map(([x, y]) => [this.scaleX(x), this.scaleY(y)])),
      level: () => `M${MARGIN.left} ${this.scaleY(value)}H${right}`,
    };
    return svg("path", { class: `${kind} ${name}`, d: shapes[kind]() }, svg("title", {}, title));
  }

  /** Moves the cursor; null hides it. */
  point(x) {
    this.at = x;
    if (!this.data || !this.cursor) return;
    const shown = x !== null && x >= this.data.x[0] && x <= this.data.x[1];
    const bottom = this.height - MARGIN.bottom;
    const d = shown ? `M${this.scaleX(x).toFixed(2)} ${MARGIN.top}V${bottom}` : "";
    this.cursor.setAttribute("d", d);
  }

  listen(seek) {
    const press = (event) => {
      if (!this.data || !(event.buttons & 1)) return;
      const { left, width } = this.element.getBoundingClientRect();
      const x = ((event.clientX - left) / width) * this.width;
      const share = Math.min(Math.max((x - MARGIN.left) / this.inner().width, 0), 1);
      const [first, last] = this.data.x;
      seek(this.data.log ? first * (last / first) ** share : first + share * (last - first));
    };
    this.element.classList.add("seekable");
    this.element.addEventListener("pointerdown", press);
    this.element.addEventListener("pointermove", press);
  }
}
