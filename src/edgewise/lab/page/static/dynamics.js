// The first experiment: AdaBoost as an iterated map on the weights of the examples.

import { ask, asker, TYPING } from "./api.js";
import { Chart } from "./chart.js";
import { MatrixGrid } from "./matrix.js";
import { OrbitPicture } from "./orbit.js";
import { Player } from "./player.js";
import { byId, colour, count, html, legend, number, svg } from "./svg.js";

const RANDOM = "random";
const OWN = "own";
const MANY = 12; // examples above which a polygon says less than two axes
const ROWS = 40; // of the table of a cycle
const NUMBERS = 4; // examples up to which weights are written out

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const entry = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
const newSeed = () => Math.floor(Math.random() * 1e6);

export class Dynamics {
  constructor(panel, examples, limits) {
    this.examples = new Map(examples.map((example) => [example.name, example]));
    this.limits = limits;
    this.view = { kind: "polygon", pair: [0, 1], chosen: false };
    this.grid = new MatrixGrid(byId("matrix"), {
      onFlip: (i, j) => this.flip(i, j),
      onColumn: (j) => this.toggleColumn(j),
    });
    this.picture = new OrbitPicture(byId("orbit"), (weights) => this.setStart("own", weights));
    this.player = new Player(panel, (time) => this.move(time));
    this.chart = new Chart(byId("chart"), { seek: (x) => this.seek(x) });
    this.ask = asker(panel, "/api/walk", (answer) => this.show(answer));
    this.fillChoices();
    this.listen();
    this.choose(examples[0].name);
  }

  // --- the question -------------------------------------------------------------------------

  get question() {
    return {
      matrix: this.matrix,
      start: this.start,
      rule: this.rule,
      ties: byId("ties").value,
      n_steps: entry("n-steps"),
      n_skipped: entry("n-skipped"),
    };
  }

  get rule() {
    const name = byId("rule-name").value;
    if (name === "adaboost-star") return { name, nu: entry("nu") };
    if (name !== "threshold") return { name };
    const columns = this.columns.length === this.matrix[0].length ? null : this.columns;
    return { name, at_least: entry("at-least"), choose: byId("choose").value, columns };
  }

  set rule(rule) {
    byId("rule-name").value = rule.name;
    byId("at-least").value = rule.at_least ?? "";
    byId("choose").value = rule.choose ?? "first";
    byId("nu").value = rule.nu ?? 0.01;
    this.columns = rule.columns ?? this.matrix[0].map((_, j) => j);
  }

  fillChoices() {
    const words = ({ name, max_margin }) => `${name.replace("x", " × ")}, maximum margin ${max_margin}`;
    byId("matrix-name").append(
      ...[...this.examples.values()].map((e) => html("option", { value: e.name }, words(e))),
      html("option", { value: RANDOM }, "random"),
      html("option", { value: OWN, hidden: "" }, "your own"),
    );
  }

  listen() {
    byId("matrix-name").addEventListener("change", (event) => this.choose(event.target.value));
    byId("draw-matrix").addEventListener("click", () => {
      byId("matrix-seed").value = newSeed();
      this.drawRandom();
    });
    for (const id of ["error-rate", "matrix-seed"]) {
      byId(id).addEventListener("change", () => this.drawRandom());
    }
    byId("row-less").addEventListener("click", () => this.resize(-1, 0));
    byId("row-more").addEventListener("click", () => this.resize(1, 0));
    byId("column-less").addEventListener("click", () => this.resize(0, -1));
    byId("column-more").addEventListener("click", () => this.resize(0, 1));
    byId("start-equal").addEventListener("click", () => this.setStart("equal", null));
    byId("start-random").addEventListener("click", () => this.randomStart());
    byId("start-paper").addEventListener("click", () => this.setStart("paper", this.published));
    for (const id of ["rule-name", "choose", "ties"]) {
      byId(id).addEventListener("change", () => this.update());
    }
    for (const id of ["at-least", "nu", "n-steps", "n-skipped"]) {
      byId(id).addEventListener("input", () => this.update(TYPING));
    }
    for (const id of ["projection", "pair-x", "pair-y"]) {
      byId(id).addEventListener("change", () => this.changeView());
    }
    byId("log-steps").addEventListener("change", () => this.drawChart());
    byId("prove").addEventListener("click", () => this.prove());
  }

  /** Takes a matrix of the list. */
  choose(name) {
    byId("matrix-name").value = name;
    byId("random-fields").hidden = name !== RANDOM;
    if (name === RANDOM) {
      byId("matrix-story").textContent = "Independent entries: with many examples the weights may wander for long.";
      if (this.matrix.length < 8) this.matrix = Array.from({ length: 12 }, () => Array(12).fill(1));
      this.drawRandom();
      return;
    }
    const example = this.examples.get(name);
    if (!example) return;
    byId("matrix-story").textContent = sentence(example.story);
    this.matrix = example.matrix.map((row) => [...row]);
    this.published = example.start;
    this.start = example.start;
    this.startKind = example.start ? "paper" : "equal";
    this.rule = example.rule;
    this.update();
  }

  /** A random matrix of the present size. */
  async drawRandom() {
    const question = {
      m: this.matrix.length,
      n: this.matrix[0].length,
      error_rate: entry("error-rate"),
      random_state: entry("matrix-seed"),
    };
    await this.attempt(async () => {
      const { matrix } = await ask("/api/random-matrix", question);
      const wanted = byId("matrix-name").value === RANDOM && question.m === this.matrix.length;
      if (!wanted || question.n !== this.matrix[0].length) return; // changed in the meantime
      this.matrix = matrix;
      this.published = null;
      this.start = null;
      this.startKind = "equal";
      this.columns = matrix[0].map((_, j) => j);
      this.update();
    });
  }

  /** Runs a question of its own; where it fails, the panel says why. */
  async attempt(task) {
    const alert = document.querySelector("#dynamics .alert");
    try {
      await task();
    } catch (error) {
      alert.textContent = error.message;
      alert.hidden = false;
    }
  }

  edited() {
    byId("matrix-name").value = OWN;
    byId("random-fields").hidden = true;
    byId("matrix-story").textContent = "Your own matrix.";
    this.published = null;
    if (this.startKind === "paper") this.startKind = "own";
  }

  flip(i, j) {
    this.matrix[i][j] = -this.matrix[i][j];
    this.edited();
    this.update();
  }

  /** Adds or removes the last example or classifier. New entries are wrong on the diagonal. */
  resize(rows, columns) {
    const m = this.matrix.length + rows;
    const n = this.matrix[0].length + columns;
    if (m < 1 || n < 1 || m > this.limits.rows || n > this.limits.columns) return;
    const old = this.matrix;
    this.matrix = Array.from({ length: m }, (_, i) =>
      Array.from({ length: n }, (_, j) => old[i]?.[j] ?? (i === j ? -1 : 1)),
    );
    if (rows) this.resizeStart(m);
    this.columns = this.columns.filter((j) => j < n);
    if (columns > 0 || !this.columns.length) this.columns.push(n - 1);
    if (byId("matrix-name").value === RANDOM) this.drawRandom();
    else {
      this.edited();
      this.update();
    }
  }

  /** Weights for another number of examples: a new one gets its share, the others keep theirs. */
  resizeStart(m) {
    if (!this.start) return;
    const kept = this.start.slice(0, m).map((d) => (d * Math.min(this.start.length, m)) / m);
    const weights = kept.concat(Array(m - kept.length).fill(1 / m));
    this.start = normalised(weights);
  }

  toggleColumn(j) {
    const allowed = this.columns.includes(j);
    if (allowed && this.columns.length === 1) return;
    this.columns = allowed
      ? this.columns.filter((k) => k !== j)
      : [...this.columns, j].sort((a, b) => a - b);
    this.update();
  }

  setStart(kind, weights) {
    this.startKind = kind;
    this.start = weights;
    this.showStart();
    this.ask(this.question, { rest: 20 }); // soon: the start may be on the move
  }

  async randomStart() {
    await this.attempt(async () => {
      const question = { m: this.matrix.length, random_state: newSeed() };
      const { start } = await ask("/api/random-start", question);
      if (start.length === this.matrix.length) this.setStart("random", start);
    });
  }

  /** Shows the controls as they are now, and asks for the walk. */
  update(when) {
    const rule = byId("rule-name").value;
    byId("threshold-fields").hidden = rule !== "threshold";
    byId("nu-fields").hidden = rule !== "adaboost-star";
    byId("row-count").textContent = this.matrix.length;
    byId("column-count").textContent = this.matrix[0].length;
    this.grid.show(this.matrix, rule === "threshold" ? this.columns : null);
    this.showStart();
    this.ask(this.question, when);
  }

  showStart() {
    for (const kind of ["equal", "random", "paper"]) {
      byId(`start-${kind}`).setAttribute("aria-pressed", this.startKind === kind);
    }
    byId("start-paper").hidden = !this.published;
    this.showSliders();
  }

  showSliders() {
    const weights = this.start ?? this.matrix.map(() => 1 / this.matrix.length);
    const box = byId("start-sliders");
    if (box.children.length !== weights.length) {
      box.replaceChildren(...weights.map((_, i) => this.slider(i)));
    }
    weights.forEach((weight, i) => {
      const [, input, output] = box.children[i].children;
      if (input !== document.activeElement) input.value = weight;
      output.textContent = number(weight, 3);
    });
  }

  slider(i) {
    const input = html("input", { type: "range", min: 0, max: 1, step: 0.001 });
    input.addEventListener("input", () => this.setWeight(i, Number(input.value)));
    return html("label", {}, html("span", {}, `d${i}`), input, html("output"));
  }

  /** Gives example i a weight; the others share the rest as they did. */
  setWeight(i, weight) {
    const old = this.start ?? this.matrix.map(() => 1 / this.matrix.length);
    const rest = 1 - old[i];
    const others = old.length - 1;
    const share = (d) => (rest > 1e-12 ? (d * (1 - weight)) / rest : (1 - weight) / others);
    this.setStart("own", others ? normalised(old.map((d, k) => (k === i ? weight : share(d)))) : [1]);
  }

  // --- the answer ---------------------------------------------------------------------------

  show(answer) {
    this.answer = answer;
    const m = answer.start.length;
    byId("projection-fields").hidden = m <= 3;
    byId("zero-legend").hidden = m !== 3;
    if (!this.view.chosen) this.view.kind = m > MANY ? "pair" : "polygon";
    if (byId("pair-x").children.length !== m) this.fillPairs(m);
    this.grid.most = answer.weights.reduce((most, weights) => Math.max(most, ...weights), 0);
    this.showView();
    this.showCycle();
    this.drawChart();
    this.player.load(answer.choices.length);
  }

  /** Offers the examples for two axes, the heaviest first. */
  fillPairs(m) {
    const { weights } = this.answer;
    const mean = Array.from({ length: m }, (_, i) => weights.reduce((sum, d) => sum + d[i], 0));
    const order = [...mean.keys()].sort((a, b) => mean[b] - mean[a] || a - b);
    for (const [id, place] of [["pair-x", 0], ["pair-y", 1]]) {
      byId(id).replaceChildren(
        ...mean.map((_, i) => html("option", { value: i }, `example ${i}`)),
      );
      byId(id).value = order[place] ?? 0;
    }
    this.view.pair = [order[0], order[1] ?? 0];
  }

  changeView() {
    this.view = {
      kind: byId("projection").value,
      pair: [Number(byId("pair-x").value), Number(byId("pair-y").value)],
      chosen: true,
    };
    this.showView();
    this.picture.move(this.player.time);
  }

  showView() {
    byId("projection").value = this.view.kind;
    byId("pair-fields").hidden = this.view.kind !== "pair";
    this.picture.show(this.answer, this.view);
  }

  showCycle() {
    const { cycle, max_margin: best } = this.answer;
    byId("prove").hidden = !cycle.found;
    byId("proof").textContent = "";
    byId("cycle-verdict").replaceChildren(...this.verdict());
    byId("cycle-steps").replaceChildren(...(cycle.found ? cycleTable(cycle) : []));
    const facts = cycle.found
      ? [
          ["margin", number(cycle.margin, 6)],
          ["maximum margin", number(best.value, 6)],
          ["support", supportOf(cycle)],
          ["residual", cycle.residual.toExponential(1)],
          ["spectral radius", number(cycle.spectral_radius)],
          ["manifold", cycle.manifold_dimension ? `dimension ${cycle.manifold_dimension}` : "isolated"],
          ["lead of the choice", number(cycle.gap)],
        ]
      : [
          ["margin after the last step", number(this.answer.margins.at(-1), 6)],
          ["maximum margin", number(best.value, 6)],
        ];
    byId("cycle-facts").replaceChildren(
      ...facts.flatMap(([term, value]) => [html("dt", {}, term), html("dd", {}, value)]),
    );
  }

  /** What happens in the end, in a sentence or two. */
  verdict() {
    const { cycle, max_margin: best, stopped } = this.answer;
    if (!cycle.found) {
      const words = [html("strong", {}, "No cycle"), `: ${cycle.reason}.`];
      return stopped && !cycle.reason.includes(stopped) ? [...words, ` The walk ends: ${stopped}.`] : words;
    }
    const kind = { true: "A stable cycle", false: "An unstable cycle", null: "A cycle" }[cycle.is_stable];
    const steps = count(cycle.length, "step");
    const missed = best.value - cycle.margin;
    const margin =
      Math.abs(missed) < 1e-9
        ? ["; it reaches the maximum margin."]
        : ["; it ", html("em", {}, `misses the maximum margin by ${number(missed)}`), "."];
    return [html("strong", {}, `${kind} of ${steps}`), ...margin];
  }

  async prove() {
    const said = byId("proof");
    said.textContent = "Proving …";
    const { answer } = this;
    try {
      const proof = await ask("/api/proof", this.question);
      if (answer !== this.answer) return;
      const digits = proof.edges[0]?.slice(0, proof.digits + 2);
      said.textContent = proof.proved
        ? `Proved in interval arithmetic, to ${proof.digits} digits: there is exactly one such cycle ` +
          `here${proof.stable ? ", and it is stable" : ""}. First edge ${digits}`
        : `Not proved: ${proof.reason}.`;
    } catch (error) {
      said.textContent = error.message;
    }
  }

  drawChart() {
    const { first, choices, edges, margins, smooth_margins: smooth, max_margin: best } = this.answer;
    const steps = edges.map((_, t) => first + t + 1);
    const log = byId("log-steps").checked;
    const pairs = (values) => steps.map((x, t) => [x, values[t]]).filter(([, y]) => y !== null);
    const taken = [...new Set(choices)].sort((a, b) => a - b);
    const low = Math.min(0, best.value, margins.at(-1) ?? 0);
    const high = Math.max(best.value, ...edges, ...margins);
    const room = 0.06 * (high - low || 1);
    this.chart.show({
      x: [log ? first + 1 : first, Math.max(first + choices.length, first + 2)],
      y: [low - (low < 0 ? room : 0), high + room],
      log,
      xLabel: "step",
      series: [
        { kind: "level", value: best.value, name: "best", title: "maximum margin" },
        { kind: "line", points: pairs(smooth), name: "smooth", title: "smooth margin" },
        { kind: "line", points: pairs(margins), name: "margin", title: "margin" },
        ...taken.map((j) => ({
          kind: "dots",
          points: pairs(edges).filter((_, t) => choices[t] === j),
          name: `${colour(j)} ${choices.length > 400 ? "many" : ""}`,
          title: `edge of h${j}`,
        })),
      ],
    });
    legend(byId("chart-legend"), [
      ["best", "maximum margin", "dash"],
      ["margin", "margin", "line"],
      ["smooth", "smooth margin", "line"],
      ["ink", "edge of the column taken", "dot"],
    ]);
  }

  seek(x) {
    this.player.pause();
    this.player.go(Math.round(x - this.answer.first));
  }

  /** Shows a time of the walk everywhere. */
  move(time) {
    const { weights, choices, edges, margins, first, stopped } = this.answer;
    const step = Math.floor(time);
    this.picture.move(time);
    this.chart.point(first + time);
    this.grid.mark(choices[step] ?? -1, weights[step]);
    const last = step >= choices.length;
    const words = last
      ? stopped
        ? `the walk ends: ${stopped}`
        : "the last step shown"
      : `takes h${choices[step]} with edge ${number(edges[step])}`;
    const margin = step > 0 ? `, margin ${number(margins[step - 1])}` : "";
    byId("now").textContent = `after ${count(first + step, "step")}${margin} · ${words}`;
  }
}

function normalised(weights) {
  const total = weights.reduce((sum, d) => sum + d, 0);
  return weights.map((d) => (total > 0 ? d / total : 1 / weights.length));
}

function supportOf({ support, weights }) {
  const all = support.length === weights[0].length;
  if (all) return `all ${support.length} examples`;
  return support.length > 12 ? `${support.length} examples` : `examples ${support.join(", ")}`;
}

/** The steps of a cycle as rows. */
function cycleTable({ length, choices, edges, weights }) {
  const written = weights[0].length <= NUMBERS;
  const heads = ["takes", "edge", ...(written ? weights[0].map((_, i) => `d${i}`) : ["weights"])];
  const rows = choices.slice(0, ROWS).map((j, t) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", class: colour(j) }, html("span", { class: "chip" }, `h${j}`)),
      html("td", { class: "edge" }, number(edges[t])),
      ...(written
        ? weights[t].map((d) => html("td", {}, number(d)))
        : [html("td", {}, bars(weights[t]))]),
    ),
  );
  const more = length > ROWS ? [html("tr", {}, html("td", { colspan: 3 }, `and ${length - ROWS} more`))] : [];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((h) => html("th", { scope: "col" }, h)))),
    html("tbody", {}, ...rows, ...more),
  ];
}

/** Weights as small bars. */
function bars(weights) {
  const width = Math.min(8, 150 / weights.length);
  const most = Math.max(...weights);
  return svg(
    "svg",
    { class: "bars", width: width * weights.length, height: 18, "aria-hidden": "true" },
    ...weights.map((d, i) =>
      svg("rect", {
        x: i * width,
        y: 18 - (18 * d) / most,
        width: Math.max(width - 1, 0.8),
        height: (18 * d) / most,
      }),
    ),
  );
}
