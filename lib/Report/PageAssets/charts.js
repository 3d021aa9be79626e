// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both charts need: scales, ticks, axes.

/// Round numbers in low … high, about `count` of them.
function ticksBetween(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0))
    return [ low ];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [ 1, 2, 5, 10 ].map(n => n * power).find(n => n >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); ++i)
    ticks.push(i * step);
  return ticks;
}

/// The unit for byte counts up to `most`, and its name.
function byteUnit(most) {
  if (most >= 10 * 1073741824)
    return [ 1073741824, "GiB" ];
  if (most >= 1048576)
    return [ 1048576, "MiB" ];
  return most >= 1024 ? [ 1024, "KiB" ] : [ 1, "B" ];
}

/// The same for picoseconds.
function timeUnit(most) {
  for (const unit of [[ 1e9, "ms" ], [ 1e6, "us" ], [ 1e3, "ns" ]])
    if (most >= unit[0])
      return unit;
  return [ 1, "ps" ];
}

function tickText(value) {
  return Number.isInteger(value) ? formatCount(value)
                                 : String(Number(value.toPrecision(3)));
}

/// The same for ticks in even steps, with as many digits as tell them apart.
function tickTexts(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return ticks.map(tick => digits === 0 || tick === 0
                               ? tickText(Math.round(tick))
                               : tick.toFixed(digits));
}

/// Grid lines and numbers of an axis: places in pixels with their texts.
function gridX(ticks, top, bottom) {
  return ticks.flatMap(
      ([
        x, text
      ]) => [svg("line",
                 {class : "grid", x1 : x, x2 : x, y1 : top, y2 : bottom}),
             svg("text",
                 {class : "tick", x, y : bottom + 19, "text-anchor" : "middle"},
                 text)]);
}

function gridY(ticks, left, right) {
  return ticks.flatMap(
      ([ y, text ]) =>
          [svg("line", {class : "grid", x1 : left, x2 : right, y1 : y, y2 : y}),
           svg("text",
               {class : "tick", x : left - 6, y : y + 4, "text-anchor" : "end"},
               text)]);
}

/// Text in the middle below an axis.
function axisName(x, y, text) {
  return svg("text", {class : "axis", x, y, "text-anchor" : "middle"}, text);
}

/// Width of a chart's place, and a height that suits it.
function chartSize(place, tall) {
  const width = Math.max(280, Math.floor(place.clientWidth));
  const height = Math.max(240, Math.min(tall, Math.round(width * 0.72)));
  return {width, height};
}

/// Calls `draw` when the width of `place` changes.
function redrawOnResize(place, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width)
      return;
    width = place.clientWidth;
    draw();
  }).observe(place);
}

/// Where a time of the step is in the width, 0 to 1. Ops have equal widths, so
/// times do not.
function partOfTime(plan, ps) {
  const {time} = momentsOf(plan), places = momentPlaces(plan);
  const at = Math.max(time.findIndex(end => end >= ps), 1);
  const length = time[at] - time[at - 1];
  const part = length > 0 ? (ps - time[at - 1]) / length : 1;
  return places[at - 1] + (places[at] - places[at - 1]) * part;
}

/// The time of a place in the width: the inverse.
function timeAt(plan, part) {
  const {time} = momentsOf(plan), places = momentPlaces(plan);
  const at = Math.max(places.findIndex(end => end >= part), 1);
  const width = places[at] - places[at - 1];
  return time[at - 1] + (time[at] - time[at - 1]) *
                            (width > 0 ? (part - places[at - 1]) / width : 1);
}

/// The axis of time, under the names of the halves: round times from `left` to
/// `right`, parts of the width, as far as they have room.
function drawTimes(drawing, plan, x, box, left, right) {
  const {time} = momentsOf(plan);
  if (time.length === 0)
    return;
  const low = timeAt(plan, left), high = timeAt(plan, right);
  const [unit, name] = timeUnit(high);
  const ticks =
      ticksBetween(low / unit, high / unit, (box.right - box.left) / 110);
  const bottom = box.bottom + 38;
  let free = box.left + textWidth(`time, ${name}`, 13) - 46;
  drawing.append(
      svg("text", {class : "axis", x : 4, y : bottom}, `time, ${name}`));
  tickTexts(ticks).forEach((text, i) => {
    const at = x(partOfTime(plan, ticks[i] * unit));
    const half = textWidth(text, 13) / 2;
    if (at - half < free || at + half > box.right + 8)
      return;
    free = at + half + 8;
    drawing.append(
        svg("line", {
          class : "grid",
          x1 : at,
          x2 : at,
          y1 : box.bottom,
          y2 : box.bottom + 5
        }),
        svg("text",
            {class : "tick", x : at, y : bottom, "text-anchor" : "middle"},
            text));
  });
}
