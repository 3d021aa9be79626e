// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking at the arena: what the pointer, the keys and the controls do, and
// what is told of a value.

/// Draws the arena of a plan at `place`, and returns what the rest needs.
function drawArena(place, plan) {
  const {width : outer} = chartSize(place, 420);
  const height = outer < 500 ? 340 : 420;
  const box = {left : 58, right : outer - 10, top : 34, bottom : height - 48};
  const chart = {
    place,
    plan,
    box,
    width : box.right - box.left,
    height : box.bottom - box.top,
    scales : arenaScales(box),
    hovered : null
  };
  chart.canvas = element("canvas", {
    tabindex : 0,
    role : "application",
    "aria-roledescription" : "arena",
    "aria-describedby" : "arena-value",
    "aria-label" : `Arena of ${plan.label}. Arrows go from value to value, ` +
                       "plus and minus zoom, 0 shows all."
  });
  chart.canvas.style.width = `${chart.width}px`;
  chart.canvas.style.height = `${chart.height}px`;
  chart.tip = element("div", {class : "tip", hidden : true});
  replaceChildren(place, [ drawArenaAxes(chart), chart.canvas, chart.tip ]);
  paintArena(chart);
  listenToArena(chart);
  return chart;
}

/// `from` … `to` moved to lie in `least` … `most`, and cut to fit.
function fitInto(from, to, least, most) {
  const size =
      Math.min(Math.max(to - from, 1e-4 * (most - least)), most - least);
  const start = Math.max(least, Math.min(from, most - size));
  return [ start, start + size ];
}

/// Sets the window, inside of the whole; null shows all.
function zoomTo(part) {
  if (part) {
    const whole = wholeWindow();
    const [left, right] = fitInto(part.left, part.right, 0, 1);
    const [low, high] = fitInto(
        part.low, part.high === null ? whole.high : part.high, 0, whole.high);
    const isHigh = high - low > 0.999 * whole.high;
    part = right - left > 0.999 && isHigh
               ? null
               : {left, right, low, high : isHigh ? null : high};
  }
  arena.window = part;
  showArena();
  noteChange(true);
}

/// Zooms by a factor, around a value that is looked at or the middle.
function zoomBy(factor, part, bytes) {
  const {left, right, low, high} = arenaWindow();
  const value = lookedAt(state.plan)[0];
  if (part === undefined) {
    part = value ? (value.left + value.right) / 2 : (left + right) / 2;
    bytes = value ? value.offset + value.bytes / 2 : (low + high) / 2;
    part = Math.max(left, Math.min(part, right));
    bytes = Math.max(low, Math.min(bytes, high));
  }
  zoomTo({
    left : part - (part - left) / factor,
    right : part + (right - part) / factor,
    low : bytes - (bytes - low) / factor,
    high : bytes + (high - bytes) / factor
  });
}

/// For the link: parts of the time, and bytes unless all are shown.
function zoomText() {
  if (!arena.window)
    return "";
  const {left, right, low, high} = arena.window;
  const parts = [ left.toFixed(5), right.toFixed(5) ];
  return parts
      .concat(high === null ? [] : [ Math.round(low), Math.round(high) ])
      .join(",");
}

function setZoomText(text) {
  const [left, right, low, high] = text.split(",").map(Number);
  const isPart = text !== "" && left >= 0 && left < right && right <= 1;
  const isHigh = low >= 0 && low < high && Number.isFinite(high);
  arena.window =
      isPart
          ? {left, right, low : isHigh ? low : 0, high : isHigh ? high : null}
          : null;
}

function hiddenKindsText() { return [...arena.hidden ].sort().join(","); }

function setHiddenKinds(text) {
  arena.hidden =
      new Set(text.split(",").filter(kind => liveKinds.includes(kind)));
}

//===----------------------------------------------------------------------===//
// Pointer and keys
//===----------------------------------------------------------------------===//

/// The value at a place in pixels; if none, the nearest within three.
function valueAt(chart, x, y) {
  let best = null, least = 3;
  for (const value of shownValues(chart.plan)) {
    const box = paintedBox(value, chart.scales, chart.width, chart.height);
    if (!box)
      continue;
    const far =
        Math.hypot(x - Math.max(box.left, Math.min(x, box.left + box.width)),
                   y - Math.max(box.top, Math.min(y, box.top + box.height)));
    // What is painted later lies above.
    if (far <= least)
      [best, least] = [ value, far ];
  }
  return best;
}

/// "ops 12 to 830".
function opsText(value) {
  return value.end - value.begin > 1
             ? `ops ${formatCount(value.begin + 1)} to ${
                   formatCount(value.end)}`
             : `op ${formatCount(value.end)}`;
}

const kindNouns = {
  saved : "saved value",
  result : "forward result",
  gradient : "gradient",
  recomputed : "recomputed copy",
  temporary : "temporary"
};

/// "saved value: 24.0 MiB at address 1,024.0 MiB, ops 12 to 830".
function placedText(value) {
  return `${kindNouns[value.kind]}: ${formatBytes(value.bytes)} at address ${
      formatBytes(value.offset)}, ${opsText(value)}`;
}

function hoverAt(chart, x, y) {
  const value = valueAt(chart, x, y);
  if (value !== chart.hovered) {
    chart.hovered = value;
    paintArena(chart);
  }
  chart.tip.hidden = !value;
  if (!value)
    return;
  const place = texts[items.place[value.item]];
  replaceChildren(chart.tip, [
    element("strong", {class : "name"}, nameOf(value.item)),
    element("span", {}, placedText(value)),
    element("span", {},
            `${shorten(texts[items.op[value.item]])} in ${
                shorten(texts[items.module[value.item]])}`),
    place ? element("span", {}, shorten(shortPlace(place))) : ""
  ]);
  // Beside the pointer, on the side with more room, inside of the picture.
  const {offsetWidth, offsetHeight} = chart.tip;
  const left = x + chart.box.left, top = y + chart.box.top;
  const isRight = left + 14 + offsetWidth <= chart.place.clientWidth;
  chart.tip.style.left =
      `${isRight ? left + 14 : Math.max(0, left - 14 - offsetWidth)}px`;
  chart.tip.style.top =
      `${Math.max(0, Math.min(top + 14, chart.box.bottom - offsetHeight))}px`;
}

function leaveArena(chart) {
  chart.tip.hidden = true;
  if (chart.hovered) {
    chart.hovered = null;
    paintArena(chart);
  }
}

/// A press selects; a mouse that is drawn over the picture zooms to what it
/// went over, a finger moves the window.
function listenToArena(chart) {
  const {canvas, scales} = chart;
  let from = null;
  const band = element("div", {class : "band", hidden : true});
  chart.place.append(band);
  const showBand = ({offsetX : x, offsetY : y}) => {
    band.hidden = false;
    band.style.left = `${chart.box.left + Math.min(x, from.x)}px`;
    band.style.top = `${chart.box.top + Math.min(y, from.y)}px`;
    band.style.width = `${Math.abs(x - from.x)}px`;
    band.style.height = `${Math.abs(y - from.y)}px`;
  };
  canvas.addEventListener("pointerdown", event => {
    from = {x : event.offsetX, y : event.offsetY, window : arenaWindow()};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const {offsetX : x, offsetY : y} = event;
    if (event.pointerType === "mouse" && !from)
      hoverAt(chart, x, y);
    else if (event.pointerType === "mouse" && isFar(from, event))
      showBand(event);
  });
  canvas.addEventListener("pointerup", event => {
    if (!from)
      return;
    const {x, y, window} = from, {offsetX, offsetY} = event;
    const wasFar = isFar(from, event);
    from = null;
    band.hidden = true;
    if (!wasFar)
      return selectAt(chart, x, y);
    if (event.pointerType === "mouse")
      return zoomTo({
        left : scales.part(Math.min(x, offsetX)),
        right : scales.part(Math.max(x, offsetX)),
        low : scales.bytes(Math.max(y, offsetY)),
        high : scales.bytes(Math.min(y, offsetY))
      });
    const shift = scales.part(x) - scales.part(offsetX);
    zoomTo(
        {...window, left : window.left + shift, right : window.right + shift});
  });
  canvas.addEventListener("pointercancel", () => {
    from = null;
    band.hidden = true;
  });
  canvas.addEventListener("pointerleave", () => leaveArena(chart));
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey)
      return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.5 : 1 / 1.5, scales.part(event.offsetX),
           scales.bytes(event.offsetY));
  }, {passive : false});
  canvas.addEventListener("keydown", event => onArenaKey(event, chart));
}

function isFar(from, event) {
  return Math.hypot(event.offsetX - from.x, event.offsetY - from.y) > 6;
}

function selectAt(chart, x, y) {
  const value = valueAt(chart, x, y);
  chart.tip.hidden = true;
  selectValue(chart, value);
}

/// Looks at a value, and keeps the focus where it is.
function selectValue(chart, value) {
  const at = arena.charts.indexOf(chart);
  const hadFocus = document.activeElement === chart.canvas;
  arena.cursor = value;
  chooseValue(value ? value.item : null);
  if (hadFocus && arena.charts[at])
    arena.charts[at].canvas.focus({preventScroll : true});
}

/// The next value in the order of their beginnings, or the one that lies above
/// or below at that time.
function neighbourOf(chart, current, key) {
  const values = shownValues(chart.plan);
  if (key === "Home" || !current)
    return values[0];
  if (key === "End")
    return values[values.length - 1];
  const at = values.indexOf(current);
  if (key === "ArrowRight" || key === "ArrowLeft")
    return values[at + (key === "ArrowRight" ? 1 : -1)];
  const isUp = key === "ArrowUp";
  const others =
      values.filter(value => value !== current && value.begin < current.end &&
                             current.begin < value.end &&
                             (isUp ? value.offset > current.offset
                                   : value.offset < current.offset));
  others.sort((a, b) => isUp ? a.offset - b.offset : b.offset - a.offset);
  return others[0];
}

function onArenaKey(event, chart) {
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  const keys = {
    "+" : () => zoomBy(2),
    "=" : () => zoomBy(2),
    "-" : () => zoomBy(0.5),
    "0" : () => zoomTo(null),
    Escape : () => selectValue(chart, null)
  };
  if (/^(Arrow(Right|Left|Up|Down)|Home|End)$/.test(event.key)) {
    const values = arenaOf(chart.plan).values;
    const current =
        values.includes(arena.cursor) ? arena.cursor : lookedAt(chart.plan)[0];
    const next = neighbourOf(chart, current, event.key);
    if (next)
      selectValue(chart, next);
  } else if (event.key in keys) {
    const at = arena.charts.indexOf(chart);
    keys[event.key]();
    arena.charts[at].canvas.focus({preventScroll : true});
  } else {
    return;
  }
  event.preventDefault();
}

//===----------------------------------------------------------------------===//
// One value, and the largest
//===----------------------------------------------------------------------===//

/// Where the value that is looked at lies under a plan.
function lookedAt(plan) {
  return arenaOf(plan).values.filter(value => value.item === state.value);
}

/// What becomes of the value under a plan, and each of its places.
function placesOf(plan) {
  const fate = fateOf(plan, state.value);
  const placed = lookedAt(plan).map(
      value => element("span", {class : "placed"}, placedText(value)));
  return element("span", {class : "places"}, [
    fate === "freed" ? "" : fateTag(fate),
    ...(placed.length
            ? placed
            : [ "no rectangle of its own: an argument, a view of another " +
                "value, or too small to be drawn" ])
  ]);
}

function showValue() {
  const item = state.value, place = byId("arena-value");
  if (item === null) {
    replaceChildren(place, element("p", {class : "caption"},
                                   "Choose a value to see all of it."));
    return;
  }
  const other = otherPlan();
  const button = (text, onclick) =>
      element("button", {type : "button", onclick}, text);
  const values = lookedAt(state.plan);
  replaceChildren(place, [
    element("dl", {},
            [
              ...factsOf(item),
              ...fact(`in A, ${state.plan.label}`, placesOf(state.plan)),
              ...(other ? fact(`in B, ${other.label}`, placesOf(other)) : [])
            ]),
    element("div", {class : "controls"},
            [
              values.length ? button("Zoom to it", () => zoomToValue(values[0]))
                            : "",
              button("Find its decision", () => findDecision(item)),
              button("Close", () => chooseValue(null))
            ])
  ]);
}

/// A window in which the value has the middle third.
function zoomToValue({left, right, offset, bytes}) {
  const wide = Math.max(right - left, 0.002);
  zoomTo({
    left : left - wide,
    right : right + wide,
    low : offset - bytes,
    high : offset + 2 * bytes
  });
}

function findDecision(item) {
  byId("search").value = items.name[item];
  byId("show-kept").checked = true;
  drawTree(null);
  showView("decisions");
}

function showLargest() {
  const plan = state.plan;
  const largest = shownValues(plan)
                      .slice()
                      .sort((a, b) => b.bytes - a.bytes || a.begin - b.begin)
                      .slice(0, 25);
  const cell = (content, title) => element("td", {title}, content);
  replaceChildren(byId("arena-table").tBodies[0], largest.map(value => {
    const place = texts[items.place[value.item]], shown = shortPlace(place);
    return element("tr", {}, [
      element("th", {scope : "row"}, valueButton(value.item)),
      cell(kindNouns[value.kind]), cell(formatBytes(value.bytes)),
      cell(formatBytes(value.offset)), cell(opsText(value)),
      cell(shown, wholeOf(place, shown))
    ]);
  }));
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// What is drawn, and what is not.
function arenaNote() {
  const plan = state.plan, stored = plan.arena;
  const shown = shownValues(plan).length, all = plan.values.length;
  const parts =
      [ shown === all
            ? `${formatCount(all, "value")}, all of them drawn one by one`
            : `${formatCount(shown)} of ${
                  formatCount(all, "value")} pass the filters` ];
  if (stored.num_small)
    parts[0] =
        `${formatCount(shown)} of ${
            formatCount(all + stored.num_small,
                        "value")} are drawn one by one; ${
            formatCount(stored.num_small)} of at most ${
            formatBytes(
                stored.largest_small)} each are merged: the hatched cells ` +
        "are where they lie";
  return `${parts[0]}. Outside of the arena: parameters and inputs.`;
}

function arenaTitle(plan, letter) {
  const {left, right} = arenaWindow();
  const first = stepAt(plan, left), last = stepAt(plan, right - 1e-9);
  return [
    element("strong", {}, `${letter}: ${plan.label}`),
    ` · arena ${formatBytes(plan.arena.bytes)} (line), lower bound ${
        formatBytes(plan.lower_bound)} (dashed) · ops ${
        formatCount(first +
                    1)} to ${formatCount(last + 1)} of ${formatCount(plan.ops)}`
  ];
}

/// Kinds as switches, with what they hold at the peak.
function showKindSwitches() {
  const series = momentsOf(state.plan), peak = peakMoment(state.plan);
  for (const label of byId("arena-kinds").children) {
    const kind = label.dataset.kind;
    label.querySelector("input").checked = !arena.hidden.has(kind);
    label.querySelector("small").textContent = formatBytes(series[kind][peak]);
  }
}

function showArena() {
  const other = shownOther();
  const plans = [ state.plan ].concat(other || []);
  const problem = state.plan.arena.problem;
  byId("arena-view").hidden = problem !== undefined;
  byId("arena-problem").hidden = problem === undefined;
  byId("arena-problem").textContent =
      `This plan has no arena, for its bytes are not planned: ${problem}.`;
  byId("arena-both").disabled = !otherPlan();
  showValue();
  if (problem !== undefined || byId("arena-a").clientWidth === 0)
    return;
  const hasOther = other !== null && other.arena.problem === undefined;
  byId("arena-charts").classList.toggle("two", hasOther);
  byId("arena-b").parentElement.hidden = !hasOther;
  showKindSwitches();
  arena.charts = plans.slice(0, hasOther ? 2 : 1).map((plan, i) => {
    const name = [ "arena-a", "arena-b" ][i];
    replaceChildren(byId(`${name}-title`), arenaTitle(plan, "AB"[i]));
    return drawArena(byId(name), plan);
  });
  byId("arena-note").textContent = arenaNote();
  byId("arena-whole").disabled = byId("arena-out").disabled = !arena.window;
  showLargest();
}

function startArena() {
  byId("arena").hidden = false;
  byId("arena-kinds").append(...liveKinds.map(kind => {
    const input = element("input", {type : "checkbox", checked : true});
    input.addEventListener("change", () => {
      arena.hidden[input.checked ? "delete" : "add"](kind);
      showArena();
      noteChange(true);
    });
    return element("label", {class : "check", "data-kind" : kind}, [
      input, element("span", {class : `swatch ${kindColours[kind]} ${kind}`}),
      ` ${kindTexts[kind]} `, element("small")
    ]);
  }));
  for (const id of ["arena-from", "arena-both"])
    byId(id).addEventListener("change", () => {
      showArena();
      noteChange(true);
    });
  byId("arena-in").addEventListener("click", () => zoomBy(2));
  byId("arena-out").addEventListener("click", () => zoomBy(0.5));
  byId("arena-whole").addEventListener("click", () => zoomTo(null));
  byId("arena-peak").addEventListener("click", () => {
    const part = peakPart(state.plan);
    zoomTo({left : part - 0.05, right : part + 0.05, low : 0, high : null});
  });
  redrawOnResize(byId("arena-a"), showArena);
}
