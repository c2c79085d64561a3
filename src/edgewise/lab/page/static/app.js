// The page: two tabs, one for each experiment.

import { ask } from "./api.js";
import { byId } from "./svg.js";
import { Dynamics } from "./dynamics.js";
import { TruthTable } from "./truth_table.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];

function select(tab, { focus = false } = {}) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  history.replaceState(null, "", `#${tab.getAttribute("aria-controls")}`);
  if (focus) tab.focus();
  window.dispatchEvent(new Event("resize")); // what was hidden had no size to draw for
}

function moveAmongTabs(event) {
  const here = tabs.indexOf(event.currentTarget);
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  select(tabs.at(to % tabs.length), { focus: true });
}

for (const tab of tabs) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", moveAmongTabs);
}

function tabOfAddress() {
  return tabs.find((tab) => `#${tab.getAttribute("aria-controls")}` === location.hash) ?? tabs[0];
}
window.addEventListener("hashchange", () => select(tabOfAddress()));

try {
  const { matrices, tables, limits } = await ask("/api/examples");
  new Dynamics(byId("dynamics"), matrices, limits);
  new TruthTable(byId("truth-table"), tables, limits);
  select(tabOfAddress());
} catch (error) {
  const alert = document.querySelector(".alert");
  alert.textContent = error.message;
  alert.hidden = false;
}
