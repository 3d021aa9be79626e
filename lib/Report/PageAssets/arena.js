// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of the arena: address over time, a rectangle a value.
//
// Rectangles are painted, as there are thousands; axes and marks are drawn
// around them. Time runs as in the picture of memory. The window onto the
// arena is in parts of the time and in bytes, so that it means the same for
// two plans beside each other.

/// The values in the arena of a plan, unfolded once.
function arenaOf(plan) {
  if (plan.values)
    return plan;
  const stored = plan.arena;
  plan.values = [];
  if (stored.problem !== undefined)
    return plan;
  const item = sums(stored.item), begin = sums(stored.begin);
  const offsets = sums(stored.offsets), sizes = new Map(stored.sizes);
  const unit = stored.alignment;
  plan.values = item.map((item, i) => {
    const end = begin[i] + stored.steps[i];
    return {
      item,
      begin : begin[i],
      end,
      offset : offsets[stored.place[i]] * unit,
      bytes : sizes.has(i) ? sizes.get(i)
                           : Math.ceil(items.bytes[item] / unit) * unit,
      kind : liveKinds[Number(stored.kind[i])],
      left : partOf(plan, begin[i]),
      right : partOf(plan, end)
    };
  });
  const rows = sums(stored.small_row), ends = sums(stored.small_end);
  const height = stored.bytes / data.rows;
  const count = plan.moments.step.length;
  plan.small = sums(stored.small_begin)
                   .map((begin, i) => ({
                          offset : rows[i] * height,
                          bytes : height,
                          left : partOf(plan, begin * plan.ops / count),
                          right : partOf(plan, ends[i] * plan.ops / count)
                        }));
  return plan;
}

/// What is shown of both arenas; `window` null: all of it; its `high` null: all
/// addresses.
const arena = {
  window : null,
  hidden : new Set(), // kinds
  charts : [],        // of plan A, and of plan B
};

/// Values that the filters let through.
function shownValues(plan) {
  const least = Number(byId("arena-from").value) * plan.arena.bytes;
  return arenaOf(plan).values.filter(value => value.bytes >= least &&
                                              !arena.hidden.has(value.kind));
}

/// All of the time, and of the larger arena.
function wholeWindow() {
  const plans = [ state.plan, shownOther() ].filter(
      plan => plan && plan.arena.bytes !== undefined);
  return {
    left : 0,
    right : 1,
    low : 0,
    high : 1.02 * Math.max(...plans.map(plan => plan.arena.bytes), 1)
  };
}

function arenaWindow() {
  const whole = wholeWindow();
  if (!arena.window || arena.window.high !== null)
    return arena.window || whole;
  return {...arena.window, low : whole.low, high : whole.high};
}

/// The plan beside, if it is to be shown.
function shownOther() {
  const other = otherPlan();
  return byId("arena-both").checked && other ? other : null;
}

/// Places in pixels of the painted box.
function arenaScales(box) {
  const {left, right, low, high} = arenaWindow();
  const width = box.right - box.left, height = box.bottom - box.top;
  return {
    x : part => width * (part - left) / (right - left),
    y : bytes => height * (1 - (bytes - low) / (high - low)),
    part : x => left + (right - left) * x / width,
    bytes : y => low + (high - low) * (1 - y / height)
  };
}

//===----------------------------------------------------------------------===//
// Painting
//===----------------------------------------------------------------------===//

/// Colours of the style, with the text that stands out from each.
function paintColours() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  const isLight = colour => {
    const [r, g, b] =
        [ 1, 3, 5 ].map(i => parseInt(colour.slice(i, i + 2), 16));
    return 0.299 * r + 0.587 * g + 0.114 * b > 140;
  };
  const kinds = {};
  for (const [kind, name] of Object.entries(kindColours)) {
    const fill = of(`--${name}`);
    kinds[kind] = {fill, text : isLight(fill) ? "#14171b" : "#ffffff"};
  }
  return {
    kinds,
    paper : of("--paper"),
    panel : of("--panel"),
    text : of("--text"),
    quiet : of("--quiet"),
    accent : of("--accent")
  };
}

/// Diagonal lines: of cells that hold small values, and over recomputed ones,
/// which are told apart by more than their colour.
function hatch(context, colour, gap) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = gap;
  const lines = tile.getContext("2d");
  lines.strokeStyle = colour;
  for (const shift of [-gap, 0, gap]) {
    lines.moveTo(shift, gap);
    lines.lineTo(shift + gap, 0);
  }
  lines.stroke();
  return context.createPattern(tile, "repeat");
}

/// Where a value is painted, at least a hair wide and high, or null.
function paintedBox(value, scales, width, height) {
  const left = scales.x(value.left), right = scales.x(value.right);
  const top = scales.y(value.offset + value.bytes);
  const bottom = scales.y(value.offset);
  if (right < 0 || left > width || bottom < 0 || top > height)
    return null;
  return {
    left : Math.max(left, -2),
    top : Math.max(top, -2),
    width : Math.max(Math.min(right, width + 2) - Math.max(left, -2), 0.7),
    height : Math.max(Math.min(bottom, height + 2) - Math.max(top, -2), 0.7)
  };
}

/// The name of a value, and its bytes, where there is room for them.
function paintName(context, value, box, colour) {
  if (box.height < 17 || box.width < 44)
    return;
  const left = Math.max(box.left, 0) + 5, room = box.width - 10;
  context.fillStyle = colour;
  let name = nameOf(value.item);
  if (context.measureText(name).width > room) {
    while (name.length > 3 && context.measureText(name + "…").width > room)
      name = name.slice(0, -1);
    if (name.length < 5)
      return;
    name += "…";
  }
  const top = Math.max(box.top, 0);
  context.fillText(name, left, top + 13);
  const bytes = formatBytes(value.bytes);
  if (box.height >= 33 && context.measureText(bytes).width <= room)
    context.fillText(bytes, left, top + 28);
}

function paintValues(context, chart, colours) {
  const {width, height, scales} = chart;
  const stripes = hatch(context, colours.paper, 6);
  for (const value of shownValues(chart.plan)) {
    const box = paintedBox(value, scales, width, height);
    if (!box)
      continue;
    const colour = colours.kinds[value.kind];
    const paint = style => {
      context.fillStyle = style;
      context.fillRect(box.left, box.top, box.width, box.height);
    };
    paint(colour.fill);
    if (value.kind === "recomputed" && box.height > 5 && box.width > 3) {
      context.globalAlpha = 0.35;
      paint(stripes);
      context.globalAlpha = 1;
    }
    if (box.height > 5 && box.width > 4) {
      context.strokeStyle = colours.paper;
      context.lineWidth = 1;
      context.strokeRect(box.left, box.top, box.width, box.height);
    }
  }
}

function paintNames(context, chart, colours) {
  const {width, height, scales} = chart;
  for (const value of shownValues(chart.plan)) {
    const box = paintedBox(value, scales, width, height);
    if (box)
      paintName(context, value, box, colours.kinds[value.kind].text);
  }
}

/// Small values, as cells of the arena, under the others.
function paintSmall(context, chart, colours) {
  const least = Number(byId("arena-from").value) * chart.plan.arena.bytes;
  if (chart.plan.arena.largest_small < least)
    return;
  context.fillStyle = hatch(context, colours.quiet, 4);
  for (const cell of arenaOf(chart.plan).small) {
    const box = paintedBox(cell, chart.scales, chart.width, chart.height);
    if (box)
      context.fillRect(box.left, box.top, box.width, Math.max(box.height, 2));
  }
}

/// Where the halves meet, the peak, the lower bound, and the end of the arena.
function paintLines(context, chart, colours) {
  const {plan, scales, width, height} = chart;
  const line = (x0, y0, x1, y1, dashes, colour, thick) => {
    for (const [style, lineWidth] of [[ colours.paper, thick + 2 ],
                                      [ colour, thick ]]) {
      context.strokeStyle = style;
      context.lineWidth = lineWidth;
      context.setLineDash(style === colours.paper ? [] : dashes);
      context.globalAlpha = style === colours.paper ? 0.5 : 1;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  };
  const half = scales.x(partOf(plan, plan.forward_ops));
  line(half, 0, half, height, [ 2, 3 ], colours.quiet, 1);
  const peak = scales.x(peakPart(plan));
  line(peak, 0, peak, height, [ 6, 3 ], colours.text, 1.5);
  const end = scales.y(plan.arena.bytes), bound = scales.y(plan.lower_bound);
  line(0, end, width, end, [], colours.text, 1);
  line(0, bound, width, bound, [ 8, 4 ], colours.kinds.gradient.fill, 1.5);
}

function outlineValues(context, chart, colours) {
  const outline = (value, colour, thick) => {
    const box = paintedBox(value, chart.scales, chart.width, chart.height);
    if (!box)
      return;
    for (const [style, lineWidth] of [[ colours.paper, thick + 2 ],
                                      [ colour, thick ]]) {
      context.strokeStyle = style;
      context.lineWidth = lineWidth;
      context.strokeRect(box.left - 2, box.top - 2, box.width + 4,
                         box.height + 4);
    }
  };
  for (const value of arenaOf(chart.plan).values)
    if (value.item === state.value)
      outline(value, colours.text, 2);
  if (chart.hovered)
    outline(chart.hovered, colours.accent, 2);
}

function paintArena(chart) {
  const {canvas, width, height} = chart;
  const sharp = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const colours = paintColours();
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, height);
  paintSmall(context, chart, colours);
  paintValues(context, chart, colours);
  paintLines(context, chart, colours);
  paintNames(context, chart, colours);
  outlineValues(context, chart, colours);
}

function paintArenas() { arena.charts.forEach(paintArena); }

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// The middle of the op at which most bytes are live, as a part of the width.
function peakPart(plan) {
  const step = momentsOf(plan).step[peakMoment(plan)];
  return (partOf(plan, step) + partOf(plan, step + 1)) / 2;
}

/// Axes and the name of the peak, in front of which the canvas is put.
function drawArenaAxes(chart) {
  const {plan, box, scales} = chart;
  const {low, high} = arenaWindow();
  const size = {width : box.right + 10, height : box.bottom + 48};
  const [unit, unitName] = byteUnit(high);
  const ticks = ticksBetween(low / unit, high / unit, size.height / 60);
  const drawing = svg("svg", {
    viewBox : `0 0 ${size.width} ${size.height}`,
    ...size,
    "aria-hidden" : "true"
  });
  drawing.append(
      ...gridY(tickTexts(ticks).map(
                   (text, i) => [box.top + scales.y(ticks[i] * unit), text]),
               box.left - 4, box.right),
      svg("text", {class : "axis", x : 4, y : 11}, `address, ${unitName}`));
  const x = part => box.left + scales.x(part);
  drawHalves(drawing, x, box);
  const {left, right} = arenaWindow();
  drawTimes(drawing, plan, x, box, left, right);
  const peak = box.left + scales.x(peakPart(plan));
  if (peak < box.left || peak > box.right)
    return drawing;
  const text = "▼ peak";
  const room = textWidth(text, 13, 600) / 2 + 2;
  drawing.append(svg("text", {
    class : "peak-label",
    x : Math.max(box.left + room, Math.min(peak, box.right - room)),
    y : box.top - 6,
    "text-anchor" : "middle"
  },
                     text));
  return drawing;
}
