// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A link to what the page shows.
//
// The fragment holds what is not as the page opens: plans by their names, the
// part of the page, the moment, the value that is looked at, filters. What a
// person chooses is a step that the browser's buttons go back and forward over;
// what moves with the pointer or the scroll replaces the step. Both are written
// a little later, as browsers limit how often the address may change.

const views = [ "plans", "pair", "memory", "arena", "decisions", "trace" ];

/// A control whose value belongs to the link: as the page opens, and how it is
/// read and set.
function controlState(id) {
  const control = byId(id);
  const isCheck = control.type === "checkbox";
  const read = () => isCheck ? String(control.checked) : control.value;
  const first = read();
  return {
    read : () => read() === first ? "" : read(),
    write : text => {
      const value = text || first;
      if (isCheck)
        control.checked = value === "true";
      else if (control.tagName !== "SELECT" ||
               [...control.options ].some(option => option.value === value))
        control.value = value;
    }
  };
}

function planNamed(label) {
  return data.plans.find(plan => plan.label === label);
}

/// A step of the plan from a text, or null.
function stepFrom(text) {
  const step = /^\d+$/.test(text) ? Number(text) : NaN;
  return step < state.plan.ops ? step : null;
}

/// By key of the fragment; set in this order.
const linkParts = {};

function defineLink() {
  const firstOther = defaultOther();
  Object.assign(linkParts, {
    plan : {
      read : () => state.plan.index === data.chosen ? "" : state.plan.label,
      write : text => state.plan = planNamed(text) || data.plans[data.chosen]
    },
    with : {
      read : () => state.other === firstOther ? ""
                   : state.other              ? state.other.label
                                              : "none",
      write : text => state.other =
          text === "none" ? null : planNamed(text) || firstOther
    },
    op : {
      read : () => state.step === null ? "" : String(state.step),
      write : text => state.step = stepFrom(text)
    },
    value : {
      read : () => state.value === null ? "" : items.name[state.value],
      write : text => {
        const item = text === "" ? -1 : items.name.indexOf(text);
        state.value = item < 0 ? null : item;
      }
    },
    zoom : {read : zoomText, write : setZoomText},
    kinds : {read : hiddenKindsText, write : setHiddenKinds},
    across : controlState("plans-x"),
    by : controlState("memory-by"),
    outside : controlState("memory-parameters"),
    from : controlState("arena-from"),
    both : controlState("arena-both"),
    search : controlState("search"),
    sort : controlState("sort"),
    saved : controlState("show-saved"),
    recomputed : controlState("show-recomputed"),
    kept : controlState("show-kept"),
    view : {
      read : () => state.view,
      write : text => state.view = views.includes(text) ? text : ""
    }
  });
}

function fragment() {
  const fields = new URLSearchParams();
  for (const [key, part] of Object.entries(linkParts))
    if (part.read() !== "")
      fields.set(key, part.read());
  return String(fields);
}

/// The address of what is shown.
function linkNow() {
  const page = location.href.split("#")[0];
  return fragment() === "" ? page : `${page}#${fragment()}`;
}

const pending = {
  timer : 0,
  isStep : false
};

/// To be called after a change of what is shown.
function noteChange(isStep) {
  pending.isStep = pending.isStep || isStep;
  clearTimeout(pending.timer);
  pending.timer = setTimeout(writeLink, 300);
}

function writeLink() {
  const link = linkNow();
  if (link !== location.href)
    history[pending.isStep ? "pushState" : "replaceState"](null, "", link);
  pending.isStep = false;
}

/// Shows what a fragment says, and nothing else. True if it says anything.
function followLink(text) {
  const fields = new URLSearchParams(text);
  for (const [key, part] of Object.entries(linkParts))
    part.write(fields.get(key) || "");
  showAll();
  return text.includes("=");
}

//===----------------------------------------------------------------------===//
// Parts of the page
//===----------------------------------------------------------------------===//

function showView(view) {
  state.view = view;
  byId(view).scrollIntoView();
  byId(`${view}-title`).focus({preventScroll : true});
  noteChange(true);
}

/// The part whose beginning was scrolled past last; the present one as long as
/// its beginning is in sight, for the last parts never reach the top.
function viewInSight() {
  if (scrollY < 40)
    return "";
  const topOf = view => byId(view).getBoundingClientRect().top;
  if (state.view && topOf(state.view) >= 0 && topOf(state.view) < innerHeight)
    return state.view;
  const past =
      views.filter(view => !byId(view).hidden && topOf(view) < innerHeight / 3);
  return past.length ? past[past.length - 1] : "";
}

function startLinks() {
  defineLink();
  for (const link of document.querySelectorAll(".views a"))
    link.addEventListener("click", event => {
      event.preventDefault();
      showView(link.hash.slice(1));
    });
  const button = byId("copy-link");
  button.hidden = false;
  button.addEventListener("click", () => {
    writeLink();
    const text = byId("link-text");
    text.textContent = linkNow();
    // Where it cannot be copied it is there to be copied by hand.
    copyText(linkNow(), button, text)
        .then(() => text.hidden = button.textContent === "Copied");
  });
  addEventListener("popstate", () => {
    // An anchor without fields changes nothing but the place.
    if (location.hash === "" || location.hash.includes("="))
      followLink(location.hash.slice(1));
  });
  let waiting = 0;
  addEventListener("scroll", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (state.view === viewInSight())
        return;
      state.view = viewInSight();
      noteChange(false);
    }, 400);
  }, {passive : true});
}
