// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page shows now, and how it starts.

const state = {
  plan : data.plans[data.chosen],
  other : null,  // the plan that it is compared with, or null
  step : null,   // the moment that is looked at; null: the peak
  moment : null, // its index in the plan's moments
  value : null,  // item that is looked at, or null
  view : "",     // part of the page
  memory : null  // places of the picture of memory
};

/// Everything on the page follows the plan. `isStep`: a person is done
/// choosing.
function choosePlan(index, isStep) {
  state.plan = data.plans[index];
  state.step = null;
  showAll();
  noteChange(isStep === true);
}

/// The plan to compare with at first: what a user would have without us.
function defaultOther() {
  const chosen = data.plans[data.chosen];
  return [ rulesPlan, eagerPlan, data.plans[0] ].find(
             plan => plan && plan !== chosen) ||
         null;
}

/// The plan that the shown one is compared with, or null.
function otherPlan() { return state.other === state.plan ? null : state.other; }

function chooseOther(plan) {
  state.other = plan;
  showAll();
  noteChange(true);
}

function chooseValue(item) {
  state.value = item;
  showArena();
  noteChange(true);
}

function showAll() {
  showPlan(state.plan);
  if (byId("plans-chart").clientWidth > 0)
    drawPlans();
  showPair();
  showMemory();
  showArena();
  drawTree(null);
  showKinds();
  showTrace();
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
    // What is painted does not follow the style by itself.
    paintArenas();
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
      noteChange(false);
    }
  });
}

startTheme();
startPlans();
startPair();
startMemory();
startArena();
startDecisions();
startTrace();
startKeys();
startLinks();
if (followLink(location.hash.slice(1)) && state.view)
  byId(state.view).scrollIntoView();
