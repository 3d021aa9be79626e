// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of all plans, time over memory, and the slider.
//
// Extra time is drawn on a scale of square roots: the plans that people choose
// between lie near the fast end. A plan that is much slower than all others
// stands at the upper edge, with its number. The points are one stop of the
// Tab key, between which the arrows move.

/// What is drawn across, in bytes.
function across(plan) {
  return byId("plans-x").value === "saved" ? plan.saved_bytes : plan.peak_bytes;
}

/// All points: plans, and the partition of a log if it has figures.
function planPoints() {
  const points = data.plans.map(plan => ({
                                  plan,
                                  label : plan.label,
                                  x : across(plan),
                                  y : plan.priced_ps,
                                  kind : plan.kind
                                }));
  const other = data.other;
  if (other && other.priced_ps !== undefined)
    points.push({
      label : `${other.origin}’s, from the log`,
      x : byId("plans-x").value === "saved" ? other.saved_bytes
                                            : other.peak_bytes,
      y : other.priced_ps,
      kind : "log",
      figures : other
    });
  return points;
}

function pointText(point) {
  const figures = point.plan || point.figures;
  return `${point.label}: peak ${formatBytes(figures.peak_bytes)}, saved ${
      formatBytes(figures.saved_bytes)}, ${
      formatCount(figures.recomputed_ops,
                  "op")} recomputed, ${formatTime(point.y)} extra`;
}

/// Marks differ in shape as well as in colour.
function pointMark(kind, x, y, size) {
  const shape = {
    price : `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${
        size} 0 1 0 ${- 2 * size} 0z`,
    strategy :
        `M${x - size} ${y - size}h${2 * size}v${2 * size}h${- 2 * size}z`,
    rules :
        `M${x} ${y - size - 2}L${x + size + 2} ${y + size}H${x - size - 2}z`,
    log : `M${x} ${y - size - 2}l${size + 2} ${size + 2}l${- size - 2} ${
        size + 2}l${- size - 2} ${- size - 2}z`
  }[kind];
  return svg("path", {class : `mark ${kind}`, d : shape});
}

/// Places of bytes and picoseconds in a box, and the units of both axes.
function planScales(points, box) {
  const xs = points.map(point => point.x);
  const spread = Math.max(...xs) - Math.min(...xs) || Math.max(...xs) || 1;
  const low = Math.max(0, Math.min(...xs) - 0.06 * spread);
  const high = Math.max(...xs) + 0.06 * spread;
  const slowest = points.filter(point => point.plan !== slowestPlan);
  const most = Math.max(...slowest.map(point => point.y), 1);
  const width = box.right - box.left;
  const height = box.bottom - box.top - 14;
  return {
    low,
    high,
    most,
    x : bytes => box.left + width * (bytes - low) / (high - low),
    y : ps => box.bottom - height * Math.sqrt(Math.min(ps / most, 1.06))
  };
}

function planAxes(scales, box) {
  const [bytes, bytesName] = byteUnit(scales.high);
  const [time, timeName] = timeUnit(scales.most);
  const width = box.right - box.left;
  const ticksX =
      ticksBetween(scales.low / bytes, scales.high / bytes, width / 85);
  // Even steps of the square root, at round numbers.
  const round = [ 0.04, 0.16, 0.36, 0.64, 1 ].map(
      part => Number((part * scales.most / time).toPrecision(1)));
  const ticksY = [ 0 ];
  for (const tick of round)
    if (tick * time <= scales.most * 1.06 &&
        scales.y(ticksY[ticksY.length - 1] * time) - scales.y(tick * time) > 16)
      ticksY.push(tick);
  const isSaved = byId("plans-x").value === "saved";
  const name = isSaved ? "saved for the backward" : "peak of the step";
  return [
    ...gridX(
        tickTexts(ticksX).map((text, i) => [scales.x(ticksX[i] * bytes), text]),
        box.top, box.bottom),
    ...gridY(ticksY.map(tick => [scales.y(tick * time), tickText(tick)]),
             box.left, box.right),
    axisName((box.left + box.right) / 2, box.bottom + 38,
             `${name}, ${bytesName}`),
    svg("text", {class : "axis", x : 4, y : 11}, `extra time, ${timeName}`)
  ];
}

function drawPlans() {
  const place = byId("plans-chart");
  const {width, height} = chartSize(place, 400);
  const box = {left : 58, right : width - 22, top : 30, bottom : height - 44};
  const points = planPoints();
  const scales = planScales(points, box);
  const drawing = svg("svg", {
    viewBox : `0 0 ${width} ${height}`,
    width,
    height,
    role : "radiogroup",
    "aria-label" : "Plans: extra time over memory. Arrows move between them."
  });
  drawing.append(...planAxes(scales, box));
  const line =
      allPrices.filter(plan => !isBeaten(plan, allPrices, across))
          .map(plan => [scales.x(across(plan)), scales.y(plan.priced_ps)]);
  if (line.length > 1)
    drawing.append(svg("path", {class : "front", d : "M" + line.join("L")}));
  drawPoints(drawing, points, scales, labelPlaces(points, scales, box, line));
  replaceChildren(place, drawing);
  showPoint(points.find(point => point.plan === state.plan));
}

/// What stands beside a point: its name, with its number if it is off the
/// scale. Plans on the slider have none.
function labelText(point, scales) {
  if (point.kind === "price")
    return null;
  return point.y > scales.most ? `${point.label} ↑ ${formatTime(point.y)}`
                               : point.label;
}

const ringRadius = 10, labelSize = 12, labelGap = 13;

/// The box of each point's label, or null. Every plan keeps room for the ring,
/// so that labels stay where they are when another plan is chosen.
function labelPlaces(points, scales, box, line) {
  const places = points.map(point => [scales.x(point.x), scales.y(point.y)]);
  const taken =
      points.map((point, i) => ({
                   ...boxAround(...places[i], point.plan ? labelGap : 8),
                   isNamed : point.kind !== "price"
                 }));
  const bounds = {
    left : box.left + 2,
    right : box.right + 20,
    top : 16,
    bottom : box.bottom - 2
  };
  const lines = line.slice(1).map((to, i) => [line[i], to]);
  return points.map((point, i) => {
    const text = labelText(point, scales);
    if (text === null)
      return null;
    const size = {width : textWidth(text, labelSize) + 2, height : 15};
    const label =
        placeLabel(...places[i], size, labelGap, bounds, taken, lines);
    if (label)
      taken.push(label);
    return label;
  });
}

function drawPoints(drawing, points, scales, labels) {
  for (const [index, point] of points.entries()) {
    const x = scales.x(point.x), y = scales.y(point.y);
    const isChosen = point.plan === state.plan;
    const group = svg("g", {
      class : isChosen ? "point chosen" : "point",
      role : "radio",
      tabindex : isChosen ? 0 : -1,
      "aria-checked" : isChosen,
      "aria-disabled" : !point.plan,
      "aria-label" : pointText(point),
      "data-label" : point.label,
      onclick : () => point.plan && choosePlan(point.plan.index, true),
      onpointerenter : () => showPoint(point),
      onfocus : () => showPoint(point),
      onkeydown : event => movePoint(event, points, index)
    });
    group.append(svg("circle", {class : "reach", cx : x, cy : y, r : 14}));
    if (isChosen)
      group.append(
          svg("circle", {class : "ring", cx : x, cy : y, r : ringRadius}));
    group.append(pointMark(point.kind, x, y, 5));
    const label = labels[index];
    if (label)
      group.append(
          ...leaderTo(label, x, y, labelGap),
          svg("text", {class : "label", x : label.left + 1, y : label.top + 12},
              labelText(point, scales)));
    drawing.append(group);
  }
}

function movePoint(event, points, index) {
  const step = {ArrowRight : 1, ArrowDown : 1, ArrowLeft : -1, ArrowUp : -1};
  if (!(event.key in step))
    return;
  event.preventDefault();
  const plans = points.filter(point => point.plan);
  const next = (index + step[event.key] + plans.length) % plans.length;
  choosePlan(plans[next].plan.index, true);
  const point = byId("plans-chart").querySelector(".chosen");
  if (point)
    point.focus();
}

function showPoint(point) {
  if (point)
    byId("plans-caption").textContent = pointText(point);
}

//===----------------------------------------------------------------------===//
// Slider, figures, table
//===----------------------------------------------------------------------===//

function showFigures(plan) {
  const beside =
      (value,
       of) => [[ "strategy eager", eagerPlan ],
               [ "PyTorch’s rules", rulesPlan ]]
                  .filter(([, other ]) =>
                              other && other !== plan && of(other) > 0)
                  .map(([ name, other ]) =>
                           `${formatChange(value, of(other))} vs ${name}`);
  const figure = (title, text, notes) => element("div", {class : "figure"}, [
    element("span", {class : "figure-title"}, title),
    element("strong", {}, text),
    ...notes.map(note => element("span", {class : "figure-note"}, note))
  ]);
  const half = plan.peak_half;
  replaceChildren(byId("figures"), [
    figure("Peak of the step", formatBytes(plan.peak_bytes),
           beside(plan.peak_bytes, other => other.peak_bytes)),
    figure("Saved for the backward", formatBytes(plan.saved_bytes),
           beside(plan.saved_bytes, other => other.saved_bytes)),
    figure("Extra time", formatTime(plan.priced_ps),
           beside(plan.priced_ps, other => other.priced_ps)),
    figure(
        "Recomputed", formatCount(plan.recomputed_ops, "op"),
        [
          `peak in the ${half}`, plan.verified ? "✓ verified" : "not verified"
        ])
  ]);
}

function showPlan(plan) {
  byId("headline").textContent = plan.headline;
  showFigures(plan);
  const at = pricePlans.indexOf(plan);
  const slider = byId("slider");
  if (at >= 0)
    slider.value = pricePlans.length - 1 - at;
  slider.setAttribute("aria-valuetext",
                      `${plan.label}, peak ${formatBytes(plan.peak_bytes)}, ${
                          formatTime(plan.priced_ps)}`);
  replaceChildren(byId("bar-text"), [
    element("strong", {}, plan.label),
    ` ${formatBytes(plan.peak_bytes)} · ${formatTime(plan.priced_ps)}`,
    plan.options ? element("code", {}, plan.options) : ""
  ]);
  for (const row of byId("plans-table").tBodies[0].rows)
    if (row.dataset.plan !== undefined)
      row.toggleAttribute("aria-current",
                          Number(row.dataset.plan) === plan.index);
}

/// Rows of the table become buttons.
function startTable() {
  for (const row of byId("plans-table").tBodies[0].rows) {
    if (row.dataset.plan === undefined)
      continue;
    const head = row.cells[0];
    const button =
        element("button", {type : "button", class : "link"}, head.textContent);
    button.addEventListener("click",
                            () => choosePlan(Number(row.dataset.plan), true));
    replaceChildren(head, button);
  }
}

function startPlans() {
  const slider = byId("slider");
  slider.max = Math.max(pricePlans.length - 1, 0);
  const chooseAt = isLast => choosePlan(
      pricePlans[pricePlans.length - 1 - Number(slider.value)].index, isLast);
  slider.addEventListener("input", () => chooseAt(false));
  // Where the slider is let go is a step back.
  slider.addEventListener("change", () => noteChange(true));
  byId("plans-x").addEventListener("change", () => {
    drawPlans();
    noteChange(true);
  });
  byId("plans-view").hidden = false;
  byId("figures").hidden = false;
  byId("bar").hidden = pricePlans.length < 2;
  byId("plans-details").open = false;
  startTable();
  redrawOnResize(byId("plans-chart"), drawPlans);
}
