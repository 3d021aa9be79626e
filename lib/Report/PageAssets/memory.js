// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory over the step: what is live at each moment, as areas on each other.
//
// The step runs from left to right, the forward on the left of the line; each
// half keeps its width in all plans. A moment stands for a stretch of ops and
// shows the op of it with most live bytes. The scale is that of the largest
// plan on the slider, so that moving the slider shows what memory does.

const savedColours = [ "c1", "c2", "c3", "c4", "c5", "c6", "c7" ];

/// Parameters and inputs, if they are to be shown.
function outsideBytes() {
  return byId("memory-parameters").checked
             ? data.parameter_bytes + data.input_bytes
             : 0;
}

/// What is stacked, from below: names, classes of colour, bytes by moment.
function layersOf(plan) {
  const series = momentsOf(plan);
  const by = byId("memory-by").value;
  const names = by === "module" ? data.places : data.kinds;
  const layers = [];
  const bytes = outsideBytes();
  if (bytes > 0)
    layers.push({
      name : "parameters and inputs",
      colour : "outside",
      bytes : series.step.map(() => bytes)
    });
  series[by].forEach((bytes, i) => layers.push({
    name : `saved: ${shorten(names[i])}`,
    colour : savedColours[i],
    bytes
  }));
  for (const kind of liveKinds.slice(1))
    layers.push({
      name : kindTexts[kind],
      colour : kindColours[kind],
      bytes : series[kind]
    });
  return layers.filter(layer => layer.bytes.some(bytes => bytes > 0));
}

/// Where moments begin, as parts of the width; one more at the end.
function momentPlaces(plan) {
  const count = momentsOf(plan).step.length;
  const places = [];
  for (let i = 0; i <= count; ++i)
    places.push(partOf(plan, i * plan.ops / count));
  return places;
}

function peakMoment(plan) {
  const total = momentsOf(plan).total;
  return total.indexOf(Math.max(...total));
}

/// The outline of a series of bytes: flat through each moment.
function stairs(places, heights, x, y) {
  return heights
      .map((height, i) => `${i ? "L" : "M"}${x(places[i]).toFixed(1)} ${
               y(height).toFixed(1)}H${x(places[i + 1]).toFixed(1)}`)
      .join("");
}

function stairsBack(places, heights, x, y) {
  let path = "";
  for (let i = heights.length; i-- > 0;)
    path += `L${x(places[i + 1]).toFixed(1)} ${y(heights[i]).toFixed(1)}H${
        x(places[i]).toFixed(1)}`;
  return path + "z";
}

/// The most bytes that the picture has room for.
function memoryCeiling(plan, with_) {
  const outside = outsideBytes();
  const all = pricePlans.concat(plan, with_ || []);
  return outside + 1.06 * Math.max(...all.map(other => other.peak_bytes), 1);
}

function drawMemory() {
  const place = byId("memory-chart"), plan = state.plan;
  const {width, height} = chartSize(place, 380);
  const box = {left : 58, right : width - 10, top : 22, bottom : height - 48};
  const other = otherPlan();
  const high = memoryCeiling(plan, other);
  const x = part => box.left + (box.right - box.left) * part;
  const y = bytes => box.bottom - (box.bottom - box.top) * bytes / high;
  const [unit, unitName] = byteUnit(high);
  const drawing = svg("svg", {
    viewBox : `0 0 ${width} ${height}`,
    width,
    height,
    role : "slider",
    tabindex : 0,
    "aria-label" : "Moment of the step",
    "aria-valuemin" : 0,
    "aria-valuemax" : plan.ops - 1
  });
  const ticks = ticksBetween(0, high / unit, height / 70);
  drawing.append(
      ...gridY(tickTexts(ticks).map((text, i) => [y(ticks[i] * unit), text]),
               box.left, box.right),
      svg("text", {class : "axis", x : 4, y : 11}, `live bytes, ${unitName}`));
  drawLayers(drawing, plan, x, y);
  if (other)
    drawOutline(drawing, other, outsideBytes(), x, y);
  drawHalves(drawing, x, box);
  drawTimes(drawing, plan, x, box, 0, 1);
  drawPeak(drawing, plan, x, y, box);
  drawing.append(svg("g", {class : "cursor"}));
  listenToMoments(drawing, plan, x, box);
  replaceChildren(place, drawing);
  state.memory = {drawing, x, box};
  if (state.moment === null || state.moment >= momentsOf(plan).step.length)
    state.moment = peakMoment(plan);
  showMoment(state.moment);
}

function drawLayers(drawing, plan, x, y) {
  const places = momentPlaces(plan);
  let below = momentsOf(plan).step.map(() => 0);
  for (const layer of layersOf(plan)) {
    const above = below.map((bytes, i) => bytes + layer.bytes[i]);
    drawing.append(svg("path", {
      class : `layer ${layer.colour}`,
      d : stairs(places, above, x, y) + stairsBack(places, below, x, y)
    }));
    below = above;
  }
}

/// Another plan's live bytes, as a line.
function drawOutline(drawing, other, outside, x, y) {
  const heights = momentsOf(other).total.map(bytes => bytes + outside);
  const d = stairs(momentPlaces(other), heights, x, y);
  drawing.append(svg("path", {class : "outline under", d}),
                 svg("path", {class : "outline", d}));
}

/// Where the halves meet, in pixels.
function halvesMeet(x) {
  const chosen = data.plans[data.chosen];
  return x(partOf(chosen, chosen.forward_ops));
}

/// The line between the halves, and their names, each below its half as far as
/// both have room.
function drawHalves(drawing, x, box) {
  const at = halvesMeet(x);
  const [forward, backward] =
      [ "forward", "backward" ].map(name => textWidth(name, 13));
  const clamp = (low, place, high) => Math.max(low, Math.min(place, high));
  const left = clamp(box.left + forward / 2, (box.left + at) / 2,
                     box.right - backward - 8 - forward / 2);
  const right = clamp(box.left + forward + 8 + backward / 2,
                      (at + box.right) / 2, box.right - backward / 2);
  drawing.append(
      svg("line",
          {class : "half", x1 : at, x2 : at, y1 : box.top, y2 : box.bottom}),
      axisName(left, box.bottom + 18, "forward"),
      axisName(right, box.bottom + 18, "backward"));
}

/// A ring at the peak and what it says, clear of the cursor that stands there.
function drawPeak(drawing, plan, x, y, box) {
  const moment = peakMoment(plan);
  const places = momentPlaces(plan);
  const at = x((places[moment] + places[moment + 1]) / 2);
  const top = y(momentsOf(plan).total[moment] + outsideBytes());
  drawing.append(svg("circle", {class : "peak", cx : at, cy : top, r : 4.5}));
  const text = `peak ${formatBytes(plan.peak_bytes)}`;
  const size = {width : textWidth(text, 13, 600) + 4, height : 16};
  const bounds = {
    left : box.left + 2,
    right : box.right,
    top : 16,
    bottom : box.bottom - 2
  };
  const cursor = {left : at - 6, right : at + 6, top : 0, bottom : box.bottom};
  const half = halvesMeet(x);
  const label = placeLabel(at, top, size, 8, bounds, [ cursor ],
                           [ [ [ half, box.top ], [ half, box.bottom ] ] ]);
  if (label)
    drawing.append(
        ...leaderTo(label, at, top, 8),
        svg("text",
            {class : "peak-label", x : label.left + 2, y : label.top + 13},
            text));
}

//===----------------------------------------------------------------------===//
// The moment that is looked at
//===----------------------------------------------------------------------===//

function listenToMoments(drawing, plan, x, box) {
  const count = momentsOf(plan).step.length;
  const places = momentPlaces(plan);
  const point = event => {
    const part =
        (event.clientX - drawing.getBoundingClientRect().left - box.left) /
        (box.right - box.left);
    let at = places.findIndex(place => place > part) - 1;
    if (at < 0)
      at = part <= 0 ? 0 : count - 1;
    showMoment(Math.min(at, count - 1));
  };
  drawing.addEventListener("pointermove", point);
  drawing.addEventListener("pointerdown", event => {
    point(event);
    noteMoment();
  });
  drawing.addEventListener("keydown", event => {
    const far = Math.max(Math.round(count / 20), 1);
    const steps = {
      ArrowRight : 1,
      ArrowUp : 1,
      ArrowLeft : -1,
      ArrowDown : -1,
      PageUp : far,
      PageDown : -far,
      Home : -count,
      End : count
    };
    if (!(event.key in steps))
      return;
    event.preventDefault();
    const next = state.moment + steps[event.key];
    showMoment(Math.max(0, Math.min(count - 1, next)));
    noteMoment();
  });
}

/// The moment goes into the link, unless it is the peak.
function noteMoment() {
  const plan = state.plan;
  state.step = state.moment === peakMoment(plan)
                   ? null
                   : momentsOf(plan).step[state.moment];
  noteChange(false);
}

/// The last moment that begins no later than a step.
function momentOf(plan, step) {
  const steps = momentsOf(plan).step;
  const behind = steps.findIndex(begin => begin > step);
  return behind < 0 ? steps.length - 1 : Math.max(behind - 1, 0);
}

/// "Op 1,234 of 4,321, backward, at 1.20 ms of 3.40 ms: %mul_12, mul in
/// blocks.3.mlp".
function momentTitle(plan, moment) {
  const series = momentsOf(plan), step = series.step[moment];
  const item = series.item[moment];
  const half = step < plan.forward_ops ? "forward" : "backward";
  const module = shorten(texts[items.module[item]]);
  const op = shorten(texts[items.op[item]]);
  const {time} = series;
  const when = time.length ? `, at ${formatTime(time[moment])} of ${
                                 formatTime(time[time.length - 1])}`
                           : "";
  return `Op ${formatCount(step + 1)} of ${formatCount(plan.ops)}, ${half}${
      when}: ${nameOf(item)}, ${op} in ${module}`;
}

/// The largest values of a moment with their bytes, at most four.
function largestAt(plan, moment) {
  if (plan.arena.problem !== undefined)
    return plan.moments.largest[moment].map(item => [item, items.bytes[item]]);
  const step = momentsOf(plan).step[moment];
  return arenaOf(plan)
      .values.filter(({begin, end}) => begin <= step && step < end)
      .sort((a, b) => b.bytes - a.bytes || a.item - b.item)
      .slice(0, 4)
      .map(({item, bytes}) => [item, bytes]);
}

function showMoment(moment) {
  const plan = state.plan, series = momentsOf(plan);
  state.moment = moment;
  const layers = layersOf(plan);
  const {drawing, x, box} = state.memory;
  const places = momentPlaces(plan);
  const at = x((places[moment] + places[moment + 1]) / 2);
  replaceChildren(
      drawing.querySelector(".cursor"),
      svg("line", {x1 : at, x2 : at, y1 : box.top, y2 : box.bottom}));
  const title = momentTitle(plan, moment);
  const total = formatBytes(series.total[moment]);
  drawing.setAttribute("aria-valuenow", series.step[moment]);
  drawing.setAttribute("aria-valuetext", `${title}: ${total} live`);
  const rows = layers.slice().reverse().map(
      layer => element("li", {}, [
        element("span", {class : `swatch ${layer.colour}`}),
        element("span", {class : "name"}, layer.name),
        element("span", {class : "number"}, formatBytes(layer.bytes[moment]))
      ]));
  const largest =
      largestAt(plan, moment).map(([ item, bytes ]) => element("li", {}, [
                                    valueButton(item),
                                    element("span", {class : "quiet"},
                                            shorten(texts[items.op[item]])),
                                    element("span", {class : "number"},
                                            formatBytes(bytes))
                                  ]));
  replaceChildren(byId("memory-moment"), [
    element("p", {class : "moment-title"},
            [ element("strong", {}, total + " live"), ` · ${title}` ]),
    element("ul", {class : "legend", "aria-label" : "What is live"}, rows),
    element(
        "div", {class : "largest"},
        [ element("p", {}, "Largest live values"), element("ul", {}, largest) ])
  ]);
}

function showMemory() {
  state.moment = state.step === null ? null : momentOf(state.plan, state.step);
  if (byId("memory-chart").clientWidth > 0)
    drawMemory();
}

function startMemory() {
  byId("memory").hidden = false;
  for (const id of ["memory-by", "memory-parameters"])
    byId(id).addEventListener("change", () => {
      drawMemory();
      noteChange(true);
    });
  byId("memory-peak").addEventListener("click", () => {
    showMoment(peakMoment(state.plan));
    noteMoment();
  });
  redrawOnResize(byId("memory-chart"), drawMemory);
}
