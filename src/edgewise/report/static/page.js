// Draws the charts in the colours of the page, and again when the colours change.

const root = document.documentElement;
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const charts = JSON.parse(document.getElementById("charts").textContent);
const button = document.getElementById("theme");
let chosen = null; // "light" or "dark", or null for the reader's own setting
let views = [];

const isDark = () => (chosen === null ? prefersDark.matches : chosen === "dark");

// The style sheet says light-dark(); what came of it stands in a computed colour.
const probe = document.createElement("span");
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

// In a chart's specification {"css": "--ink"} stands for that colour of the page.
function inked(part) {
  if (Array.isArray(part)) return part.map(inked);
  if (part === null || typeof part !== "object") return part;
  if (typeof part.css === "string") return colour(part.css);
  const pairs = Object.entries(part);
  return Object.fromEntries(pairs.map(([key, value]) => [key, key === "values" ? value : inked(value)]));
}

function look() {
  const [ink, soft, line] = ["--ink", "--soft", "--line"].map(colour);
  const font = getComputedStyle(document.body).fontFamily;
  const text = { labelColor: soft, titleColor: soft, labelFont: font, titleFont: font };
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      ...text, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      gridColor: line, domainColor: soft, tickColor: soft, labelLimit: 140,
    },
    legend: { ...text, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 160 },
    header: text,
    line: { strokeWidth: 2, color: colour("--c0") },
    bar: { color: colour("--c0") },
    point: { color: colour("--c0"), filled: true, opacity: 1 },
    area: { color: colour("--c0") },
    rule: { color: soft },
    text: { color: ink, font },
    range: {
      category: [0, 1, 2, 3, 4, 5, 6, 7].map((k) => colour(`--c${k}`)),
      heatmap: [colour("--card"), colour("--c0")],
      ramp: [colour("--card"), colour("--c0")],
    },
  };
}

const options = {
  mode: "vega-lite",
  renderer: "svg",
  ast: true, // expressions are interpreted: the page's security policy allows no eval
  actions: false,
  tooltip: { theme: "custom", disableDefaultStyle: true },
};

async function draw() {
  root.setAttribute("aria-busy", "true");
  document.body.append(probe);
  views.forEach((view) => view.finalize());
  views = [];
  const config = look();
  for (const { id, spec } of charts) {
    const sized = { width: "container", ...inked(spec) };
    const place = document.getElementById(id);
    const { view } = await window.vegaEmbed(place, sized, { ...options, config });
    views.push(view);
  }
  probe.remove();
  root.setAttribute("aria-busy", "false");
}

// One drawing after the other, however fast the button is pressed.
let drawing = Promise.resolve();
function redraw() {
  button.textContent = isDark() ? "☀ Light" : "☾ Dark";
  drawing = drawing.then(draw);
}

button.addEventListener("click", () => {
  chosen = isDark() ? "light" : "dark";
  root.style.colorScheme = chosen;
  redraw();
});
prefersDark.addEventListener("change", () => chosen === null && redraw());
button.hidden = false;
redraw();
