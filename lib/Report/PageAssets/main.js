// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page shows now, and how it starts.

const state = {
  plan : data.plans[data.chosen],
  moment : null, // index in the plan's moments; null: the peak
  memory : null  // places of the picture of memory
};

/// Everything on the page follows the plan.
function choosePlan(index) {
  state.plan = data.plans[index];
  showPlan(state.plan);
  if (byId("plans-chart").clientWidth > 0)
    drawPlans();
  showMemory();
  drawTree(null);
  showKinds();
}

//===----------------------------------------------------------------------===//
// Colours and keys
//===----------------------------------------------------------------------===//

/// Local files may have no storage.
function stored(name, value) {
  try {
    if (value !== undefined)
      localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark"
               : matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const button = byId("theme");
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label",
                        isDark() ? "Use light colours" : "Use dark colours");
  };
  const last = stored("cutback-theme");
  if (last === "dark" || last === "light")
    document.documentElement.dataset.theme = last;
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    stored("cutback-theme", theme);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

function startKeys() {
  document.addEventListener("keydown", event => {
    const search = byId("search");
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) &&
                     event.target.type !== "range" &&
                     event.target.type !== "checkbox";
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      drawTree(null);
    }
  });
}

startTheme();
startPlans();
startMemory();
startDecisions();
startKeys();
choosePlan(data.chosen);
