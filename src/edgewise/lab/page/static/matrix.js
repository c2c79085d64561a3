// The margin matrix as a grid of buttons, with the weights of its rows beside it.

import { colour, html, number } from "./svg.js";

/** Size of a cell in pixels for n columns. */
function cellSize(n) {
  const largest = [[7, 32], [10, 24], [13, 18], [20, 13]].find(([most]) => n <= most);
  return largest ? largest[1] : 10;
}

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class MatrixGrid {
  /** `onFlip(i, j)`: a cell was clicked; `onColumn(j)`: a column header was clicked. */
  constructor(table, { onFlip, onColumn }) {
    this.table = table;
    this.onFlip = onFlip;
    this.onColumn = onColumn;
    this.focus = [0, 0];
    this.taken = -1;
    this.most = 1; // the weight that fills a bar
    table.addEventListener("keydown", (event) => this.steer(event));
  }

  /** Draws a matrix; `columns`: those a rule may take, or null where all may and none is asked. */
  show(matrix, columns) {
    this.matrix = matrix;
    this.focus = [
      Math.min(this.focus[0], matrix.length - 1),
      Math.min(this.focus[1], matrix[0].length - 1),
    ];
    const size = cellSize(matrix[0].length);
    this.table.style.setProperty("--cell", `${size}px`);
    this.table.classList.toggle("tiny", size < 16);
    this.heads = matrix[0].map((_, j) => this.head(j, columns));
    this.rows = matrix.map((row, i) => this.row(row, i));
    const hadFocus = this.table.contains(document.activeElement);
    this.table.replaceChildren(
      html("thead", {}, html("tr", {}, html("td"), html("td"), ...this.heads)),
      html("tbody", {}, ...this.rows.map(({ element }) => element)),
    );
    this.taken = -1;
    if (hadFocus) this.cell(...this.focus).focus();
  }

  head(j, columns) {
    const attributes = { type: "button", class: `head ${colour(j)}`, disabled: columns ? null : "" };
    if (columns) {
      attributes["aria-pressed"] = columns.includes(j);
      attributes.title = "May this classifier be taken?";
    }
    const button = html("button", attributes, html("span", {}, this.table.classList.contains("tiny") ? String(j) : `h${j}`));
    button.addEventListener("click", () => this.onColumn(j));
    return html("th", { scope: "col" }, button);
  }

  row(row, i) {
    const fill = html("div", { class: "fill" });
    const weight = html("span", { class: "number" });
    const cells = row.map((entry, j) => this.makeCell(entry, i, j));
    const element = html(
      "tr",
      {},
      html("th", { scope: "row" }, String(i)),
      html("td", { class: "weight" }, html("div", { class: "bar" }, fill), weight),
      ...cells.map((button) => html("td", {}, button)),
    );
    return { element, fill, weight, cells };
  }

  makeCell(entry, i, j) {
    const here = i === this.focus[0] && j === this.focus[1];
    const right = entry > 0;
    const button = html(
      "button",
      {
        type: "button",
        class: right ? "cell right" : "cell wrong",
        "aria-label": `example ${i}, classifier ${j}: ${right ? "right" : "wrong"}`,
        tabindex: here ? 0 : -1,
      },
      html("span", { "aria-hidden": "true" }, right ? "+" : "−"),
    );
    button.addEventListener("click", () => {
      this.focus = [i, j];
      this.onFlip(i, j);
    });
    return button;
  }

  cell(i, j) {
    return this.rows[i].cells[j];
  }

  /** Arrows move among the cells, which are one stop of the Tab key. */
  steer(event) {
    const move = MOVES[event.key];
    if (!move || !event.target.classList.contains("cell")) return;
    event.preventDefault();
    event.stopPropagation();
    const i = Math.min(Math.max(this.focus[0] + move[0], 0), this.rows.length - 1);
    const j = Math.min(Math.max(this.focus[1] + move[1], 0), this.heads.length - 1);
    this.cell(...this.focus).tabIndex = -1;
    this.focus = [i, j];
    this.cell(i, j).tabIndex = 0;
    this.cell(i, j).focus();
  }

  /** Marks the column that is taken (-1: none) and shows the weights. */
  mark(choice, weights) {
    if (weights.length !== this.rows.length) return; // an answer to an older question
    this.rows.forEach(({ fill, weight }, i) => {
      fill.style.width = `${((100 * weights[i]) / this.most).toFixed(1)}%`;
      weight.textContent = number(weights[i], 3);
    });
    if (choice === this.taken) return;
    for (const [j, on] of [[this.taken, false], [choice, true]]) {
      this.heads[j]?.classList.toggle("taken", on);
      if (j >= 0) for (const { cells } of this.rows) cells[j]?.classList.toggle("taken", on);
    }
    this.taken = choice;
  }
}
