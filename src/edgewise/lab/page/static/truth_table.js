// The second experiment: everything three classifiers can do together, from eight counts.

import { asker, TYPING } from "./api.js";
import { Chart } from "./chart.js";
import { byId, colour, combine, count, html, legend, middle, number, path, svg } from "./svg.js";

const OWN = "own";
const CORNERS = [[36, 430], [524, 430], [280, 8]]; // of the frame, beyond the triangle of the shares
const NUMBERED = 9; // rounds whose number is written beside their place
const VOTES = [
  ["adaboost", "AdaBoost"],
  ["minimiser", "least risk"],
  ["zero_one", "0/1"],
];
const MARKS = { "1": ["✓", "right"], "-1": ["✗", "wrong"], "0": ["·", "undecided"] };

const entry = (input) => (input.value === "" ? null : Number(input.value));

export class TruthTable {
  constructor(panel, examples, limits) {
    this.examples = new Map(examples.map((example) => [example.name, example]));
    this.limits = limits;
    this.betaChart = new Chart(byId("beta-chart"));
    this.riskChart = new Chart(byId("risk-chart"));
    this.ask = asker(panel, "/api/truth-table", (answer) => this.show(answer));
    this.fill();
    this.listen();
    this.choose(examples[0].name);
  }

  // --- the question -------------------------------------------------------------------------

  get question() {
    return {
      counts: this.inputs.map((pair) => pair.map(entry)),
      loss: byId("loss").value,
      rule: byId("boost-rule").value,
      n_rounds: entry(byId("n-rounds")),
      reuse: byId("reuse").checked,
      negations: byId("negations").checked,
    };
  }

  /** The eight cells: four pairs of opposite ones. */
  fill() {
    byId("table-name").append(
      ...[...this.examples.keys()].map((name) => html("option", { value: name }, name)),
      html("option", { value: OWN, hidden: "" }, "your own"),
    );
    const patterns = [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]];
    this.marks = [];
    this.inputs = patterns.map((pattern, l) =>
      [1, -1].map((side, k) => this.cell(pattern.map((sign) => side * sign), l, k)),
    );
  }

  /** A row of the table; its input is returned. */
  cell(pattern, l, k) {
    const right = pattern.flatMap((sign, j) => (sign > 0 ? [`h${j}`] : []));
    const words = right.length ? `right: ${right.join(", ")}` : "all are wrong";
    const input = html("input", {
      type: "number",
      min: 0,
      max: this.limits.count,
      step: 1,
      "aria-label": `examples on which ${words}`,
    });
    input.addEventListener("input", () => this.edited());
    const marks = VOTES.map(([name]) => html("td", { class: "mark", "data-vote": name }));
    this.marks.push({ l, k, marks });
    byId("cells").tBodies[0].append(
      html(
        "tr",
        { class: k === 0 ? "first" : null },
        k === 0 ? html("th", { scope: "rowgroup", rowspan: 2 }, "X", html("sub", {}, String(l))) : null,
        html(
          "td",
          { class: "pattern", title: words },
          ...pattern.map((sign, j) =>
            html("span", { class: `${sign > 0 ? "is-right" : "is-wrong"} ${colour(j)}` }, `h${j}`),
          ),
        ),
        html("td", {}, input),
        ...marks,
      ),
    );
    return input;
  }

  listen() {
    byId("table-name").addEventListener("change", (event) => this.choose(event.target.value));
    for (const id of ["loss", "boost-rule", "reuse", "negations"]) {
      byId(id).addEventListener("change", () => this.ask(this.question));
    }
    byId("n-rounds").addEventListener("input", () => this.ask(this.question, TYPING));
  }

  choose(name) {
    const example = this.examples.get(name);
    if (!example) return;
    byId("table-name").value = name;
    byId("table-story").textContent = example.story;
    example.counts.forEach((pair, l) =>
      pair.forEach((examples, k) => {
        this.inputs[l][k].value = examples;
      }),
    );
    this.ask(this.question);
  }

  edited() {
    byId("table-name").value = OWN;
    byId("table-story").textContent = "Your own table.";
    this.ask(this.question, TYPING);
  }

  // --- the answer ---------------------------------------------------------------------------

  show(answer) {
    this.answer = answer;
    this.showMarks();
    this.showPicture();
    this.showMinimum();
    this.showStability();
    this.showCharts();
  }

  showMarks() {
    for (const { l, k, marks } of this.marks) {
      marks.forEach((mark, v) => {
        const vote = this.answer.votes[VOTES[v][0]];
        const [sign, words] = vote ? MARKS[vote.verdicts[l][k]] : ["", "no vote"];
        mark.textContent = sign;
        mark.className = `mark ${words.replace(" ", "-")}`;
        mark.setAttribute("aria-label", `${VOTES[v][1]}: ${words}`);
      });
    }
  }

  // Shares of the vote are barycentric coordinates among the corners of the inner triangle, which
  // the frame gives: its corners are at known shares.
  get place() {
    const { frame } = this.answer;
    const [far, near] = [frame[0][0], frame[0][1]];
    const centre = middle(CORNERS);
    const corners = CORNERS.map(([x, y]) => [
      centre[0] + (x - centre[0]) / (far - near),
      centre[1] + (y - centre[1]) / (far - near),
    ]);
    return (shares) => combine(shares, corners);
  }

  showPicture() {
    const { regions, frame, votes, adaboost } = this.answer;
    const { place } = this;
    const errors = regions.map((region) => region.errors);
    const [least, most] = [Math.min(...errors), Math.max(...errors)];
    const shade = (e) => (most > least ? 0.04 + (0.34 * (e - least)) / (most - least) : 0.04);
    const inner = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(place);
    byId("votes").replaceChildren(
      ...regions.map(({ polygon, errors: e }) =>
        svg("path", {
          class: e === least ? "vote-region fewest" : "vote-region",
          d: path(polygon.map(place), true),
          "fill-opacity": e === least ? null : shade(e).toFixed(3),
        }),
      ),
      svg("path", { class: "outline", d: path(frame.map(place), true) }),
      svg("path", { class: "shares", d: path(inner, true) }),
      ...regions.map((region) => this.regionName(region, least)),
      ...inner.map((at, j) => this.cornerName(at, j)),
      ...this.minimiserShape(votes.minimiser, place),
      ...this.pathShapes(adaboost, place),
    );
    byId("votes-note").textContent = this.note();
  }

  regionName({ label, errors, name }, least) {
    const [x, y] = this.place(label);
    return svg(
      "text",
      { class: errors === least ? "region-name fewest" : "region-name", x, y, "text-anchor": "middle" },
      svg("title", {}, `${name}: ${count(errors, "error")}`),
      svg("tspan", { x, class: "count" }, `${errors}`),
      name.includes("not") ? null : svg("tspan", { x, dy: 14 }, name), // no room for it
    );
  }

  cornerName([x, y], j) {
    const dy = j === 2 ? -10 : 18;
    return svg(
      "text",
      { class: `corner ${colour(j)}`, x, y: y + dy, "text-anchor": "middle" },
      `h${j}`,
    );
  }

  /** AdaBoost's rounds: a line through those that have a place, and a dot for each. */
  pathShapes({ places }, place) {
    const seen = places.flatMap((spot, round) => (spot ? [{ ...spot, round }] : []));
    const points = seen.map(({ point }) => place(point));
    const dots = seen.map(({ negated, round }, k) => {
      const [cx, cy] = points[k];
      const last = k === seen.length - 1;
      return svg(
        "circle",
        { class: `path-dot${negated ? " negated" : ""}${last ? " last" : ""}`, cx, cy, r: last ? 5 : 3.5 },
        svg("title", {}, `after round ${round}`),
      );
    });
    const numbers = seen.slice(0, NUMBERED).map(({ round }, k) => {
      const crowded = points.slice(0, k).some(([x, y]) => Math.hypot(x - points[k][0], y - points[k][1]) < 16);
      const [x, y] = points[k];
      return crowded ? null : svg("text", { class: "round", x: x + 8, y: y - 7 }, String(round));
    });
    return [
      svg("path", { class: "boosting-path", d: path(points) }),
      ...dots,
      ...numbers.filter((text) => text !== null),
    ];
  }

  minimiserShape(vote, place) {
    if (!vote?.place) return [];
    const [x, y] = place(vote.place.point);
    const name = vote.place.negated ? "minimiser negated" : "minimiser";
    const d = `M${x} ${y - 11}l11 11-11 11-11-11z`;
    return [svg("path", { id: "minimiser", class: name, d }, svg("title", {}, "least risk"))];
  }

  /** What of the votes cannot be seen in the picture. */
  note() {
    const { votes, adaboost } = this.answer;
    const words = [`AdaBoost: ${adaboost.stopped}.`];
    const ends = [["AdaBoost's end", votes.adaboost], ["The minimiser", votes.minimiser]];
    for (const [name, vote] of ends) {
      if (vote && !vote.place && vote.beta.some((b) => b !== 0)) words.push(`${name} is outside the picture.`);
      if (vote?.place?.negated) words.push(`${name} (hollow) decides against the point shown.`);
    }
    return words.join(" ");
  }

  showMinimum() {
    const { minimum, votes, zero_one: best } = this.answer;
    byId("minimum-verdict").replaceChildren(...this.verdict());
    const heads = ["", html("span", {}, "β", html("sub", {}, "0")), html("span", {}, "β", html("sub", {}, "1")),
      html("span", {}, "β", html("sub", {}, "2")), "risk", "errors"];
    const rows = VOTES.filter(([name]) => votes[name]).map(([name, words]) => {
      const { beta, risk, errors } = votes[name];
      return html(
        "tr",
        { "data-vote": name },
        html("th", { scope: "row" }, words),
        ...beta.map((b) => html("td", { class: "beta" }, number(b, name === "zero_one" ? 0 : 4))),
        html("td", {}, number(risk)),
        html("td", { class: "errors" }, String(errors)),
      );
    });
    byId("vote-table").replaceChildren(
      html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
      html("tbody", {}, ...rows),
    );
    const facts = [["fewest errors", `${best.errors}, in ${count(best.n_cones, "cone")} of votes`]];
    if (minimum.beta) {
      facts.unshift(
        ["Newton's method", count(minimum.n_iter, "step")],
        ["closed form differs by", minimum.difference.toExponential(0)],
      );
    }
    byId("minimum-facts").replaceChildren(
      ...facts.flatMap(([term, value]) => [html("dt", {}, term), html("dd", {}, value)]),
    );
  }

  /** Whether there is a minimum, and where AdaBoost ends beside it. */
  verdict() {
    const { minimum, votes } = this.answer;
    if (!minimum.exists) {
      const along = minimum.direction.join(", ").replaceAll("-", "−");
      return [html("strong", {}, "No minimum"), `: along (${along}) the risk falls forever.`];
    }
    const why = minimum.sufficient ? `${minimum.full_pairs} full pairs` : "decided by linear programming";
    const count = minimum.unique ? "One minimiser" : "Many minimisers";
    const apart = Math.max(...minimum.beta.map((b, j) => Math.abs(b - votes.adaboost.beta[j])));
    return [
      html("strong", {}, count),
      minimum.unique ? ` (${why}); AdaBoost ends ` : "; the shortest is shown, AdaBoost ends ",
      html("em", {}, number(apart)),
      " away from it.",
    ];
  }

  showStability() {
    const { stability: s } = this.answer;
    byId("counterexample-details").hidden = "reason" in s;
    byId("kappa").replaceChildren();
    if ("reason" in s) {
      byId("kappa-note").textContent = s.reason;
      return;
    }
    const percent = (x) => `${(100 * x).toPrecision(3)} %`;
    byId("kappa-note").textContent =
      `No decision changes while each cell's share changes by less than ${percent(s.lower)} of all ` +
      `examples (certified); with ${percent(s.upper)} one can.`;
    this.drawKappa(s);
    this.showCounterexample(s);
  }

  drawKappa({ lower, upper, first_order: linear }) {
    const most = 1.15 * Math.max(upper, linear);
    const x = (value) => 8 + (304 * value) / (most || 1);
    const tick = (value, text, y, name) => [
      svg("path", { class: `kappa-tick ${name}`, d: `M${x(value)} 18v16` }),
      svg("text", { class: "tick", x: Math.min(Math.max(x(value), 30), 290), y, "text-anchor": "middle" }, text),
    ];
    byId("kappa").replaceChildren(
      svg("rect", { class: "kappa-line", x: 8, y: 22, width: 304, height: 8 }),
      svg("rect", { class: "kappa-safe", x: 8, y: 22, width: x(lower) - 8, height: 8 }),
      svg("rect", { class: "kappa-open", x: x(lower), y: 22, width: x(upper) - x(lower), height: 8 }),
      ...tick(lower, `κ ≥ ${number(lower)}`, 12, "safe"),
      ...tick(upper, `κ ≤ ${number(upper)}`, 48, "open"),
    );
  }

  /** The shares of the cells before and after the change that turns a decision. */
  showCounterexample({ counterexample, pattern }) {
    const counts = this.question.counts;
    const total = counts.flat().reduce((sum, examples) => sum + examples, 0);
    const flips = pattern
      ? `a decision changes where the predictions are ${pattern.map((s) => (s > 0 ? "+" : "−")).join(" ")}`
      : "there is no minimum any more";
    const rows = this.answer.patterns.flatMap((pair, l) =>
      pair.map((cell, k) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, cell.map((s) => (s > 0 ? "+" : "−")).join(" ")),
          html("td", {}, number(counts[l][k] / total)),
          html("td", {}, number(counterexample[l][k])),
        ),
      ),
    );
    byId("counterexample").replaceChildren(
      html("caption", {}, `With these shares ${flips}.`),
      html("thead", {}, html("tr", {}, ...["cell", "share", "changed"].map((h) => html("th", { scope: "col" }, h)))),
      html("tbody", {}, ...rows),
    );
  }

  showCharts() {
    const { adaboost, minimum } = this.answer;
    const last = Math.max(adaboost.betas.length - 1, 1);
    const target = minimum.beta;
    const betas = [...adaboost.betas.flat(), ...(target ?? [])];
    const lines = [0, 1, 2].flatMap((j) => [
      { kind: "line", points: adaboost.betas.map((beta, t) => [t, beta[j]]), name: `beta ${colour(j)}`, title: `β${j} of AdaBoost` },
      ...(target ? [{ kind: "level", value: target[j], name: colour(j), title: `β${j} of least risk` }] : []),
    ]);
    this.betaChart.show({ x: [0, last], y: bounds(betas), xLabel: "round", series: lines });
    const risks = adaboost.risks.map((risk, t) => [t, risk]);
    const levels = target ? [{ kind: "level", value: minimum.risk, name: "best", title: "least risk" }] : [];
    this.riskChart.show({
      x: [0, last],
      y: bounds([...adaboost.risks, ...(target ? [minimum.risk] : [])]),
      xLabel: "round",
      series: [...levels, { kind: "line", points: risks, name: "margin", title: "risk" }],
    });
    legend(byId("rounds-legend"), [
      ...[0, 1, 2].map((j) => [colour(j), `β${"₀₁₂"[j]}`, "line"]),
      ["margin", "risk", "line"],
      ["ink", "dashed: the minimum", "dash"],
    ]);
  }
}

/** The range of some values, with a little room. */
function bounds(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = 0.08 * (high - low || 1);
  return [low - room, high + room];
}
