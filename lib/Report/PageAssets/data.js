// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of the page, and how numbers are written.
//
// Plans are stored as differences from the plan before them, series over the
// step as changes. What a plan saves and recomputes is unfolded for all plans
// at once, which is cheap; its memory over the step when it is first shown.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const items = data.items;
const texts = data.texts;
// Stored as the difference from the item itself.
items.first = items.first.map((change, item) => item + change);

/// [3, 1, 2] → [3, 4, 6].
function sums(changes) {
  let sum = 0;
  return changes.map(change => sum += change);
}

/// Fills `saved` (item → bytes of its own and reason) and `recomputed` of all
/// plans.
function unfoldPlans(plans) {
  let saved = new Map(), recomputed = new Set();
  for (const [index, plan] of plans.entries()) {
    saved = new Map(saved);
    for (const item of sums(plan.saved.drop))
      saved.delete(item);
    sums(plan.saved.add).forEach((item, i) => saved.set(item, {
      own : plan.saved.own[i],
      reason : texts[plan.saved.reason[i]]
    }));
    recomputed = new Set(recomputed);
    for (const item of sums(plan.recomputed.drop))
      recomputed.delete(item);
    for (const item of sums(plan.recomputed.add))
      recomputed.add(item);
    plan.index = index;
    plan.savedItems = saved;
    plan.recomputedItems = recomputed;
  }
}
unfoldPlans(data.plans);

/// Why bytes are live, by the number that the arena has for it.
const liveKinds = [ "saved", "result", "gradient", "recomputed", "temporary" ];
const kindTexts = {
  saved : "saved",
  result : "forward results",
  gradient : "gradients",
  recomputed : "recomputed",
  temporary : "temporaries"
};
const kindColours = {
  saved : "c1",
  result : "c0",
  gradient : "c8",
  recomputed : "c10",
  temporary : "c9"
};

/// The moments of a plan as arrays over time, unfolded once.
function momentsOf(plan) {
  if (plan.series)
    return plan.series;
  const moments = plan.moments;
  const byKind = moments.saved_by_kind.map(sums);
  const saved = moments.step.map(
      (_, i) => byKind.reduce((sum, group) => sum + group[i], 0));
  const others = Object.fromEntries(
      liveKinds.slice(1).map(kind => [kind, sums(moments[kind])]));
  plan.series = {
    step : sums(moments.step),
    item : sums(moments.item),
    kind : byKind,
    module : moments.saved_by_module.map(sums),
    saved,
    ...others,
    time : sums(moments.time_ps), // one more at the end; none without kernels
    total : saved.map((bytes, i) => Object.values(others).reduce(
                          (sum, series) => sum + series[i], bytes)),
  };
  return plan.series;
}

/// The place of a step of `plan` in the width of a picture, 0 to 1: each half
/// keeps its part in all plans.
function partOf(plan, step) {
  const chosen = data.plans[data.chosen];
  const split = chosen.forward_ops / Math.max(chosen.ops, 1);
  const backward = Math.max(plan.ops - plan.forward_ops, 1);
  return step <= plan.forward_ops
             ? split * step / Math.max(plan.forward_ops, 1)
             : split + (1 - split) * (step - plan.forward_ops) / backward;
}

/// The step at a place in the width: the inverse.
function stepAt(plan, part) {
  const chosen = data.plans[data.chosen];
  const split = chosen.forward_ops / Math.max(chosen.ops, 1);
  const backward = Math.max(plan.ops - plan.forward_ops, 1);
  const step = part < split
                   ? plan.forward_ops * part / split
                   : plan.forward_ops + backward * (part - split) / (1 - split);
  return Math.max(0, Math.min(plan.ops - 1, Math.floor(step)));
}

/// Another plan of `plans` is better in one of two measures, and not worse in
/// the other.
function isBeaten(plan, plans, bytesOf) {
  return plans.some(other => bytesOf(other) <= bytesOf(plan) &&
                             other.priced_ps <= plan.priced_ps &&
                             (bytesOf(other) < bytesOf(plan) ||
                              other.priced_ps < plan.priced_ps));
}

/// Plans that the slider goes through, from fast to small. Where next to
/// nothing is saved, what is recomputed makes the peak grow again: such plans
/// are points only.
const allPrices = data.plans.filter(plan => plan.kind === "price");
const pricePlans = allPrices.filter(
    plan => plan.index === data.chosen ||
            !isBeaten(plan, allPrices, other => other.peak_bytes));
const slowestPlan = data.plans[data.recompute_all];
const eagerPlan = data.plans[data.eager];
const rulesPlan = data.plans.find(plan => plan.kind === "rules");

//===----------------------------------------------------------------------===//
// Numbers, as the text report writes them
//===----------------------------------------------------------------------===//

function withCommas(digits) { return digits.replace(/\B(?=(\d{3})+$)/g, ","); }

function formatCount(count, noun) {
  const text = withCommas(String(count));
  return noun ? `${text} ${noun}${count === 1 ? "" : "s"}` : text;
}

function formatFixed(value, digits) {
  const [whole, part] = Math.abs(value).toFixed(digits).split(".");
  return (value < 0 ? "-" : "") + withCommas(whole) + (part ? "." + part : "");
}

function formatBytes(bytes) {
  if (bytes < 1024)
    return `${bytes} B`;
  if (bytes < 1048576)
    return formatFixed(bytes / 1024, 1) + " KiB";
  if (bytes < 100 * 1073741824)
    return formatFixed(bytes / 1048576, 1) + " MiB";
  return formatFixed(bytes / 1073741824, 1) + " GiB";
}

function formatTime(ps) {
  if (ps < 0.5)
    return "0 s";
  const units = [ [ 1e12, "s" ], [ 1e9, "ms" ], [ 1e6, "us" ], [ 1e3, "ns" ] ];
  for (const [unit, name] of units)
    if (ps >= unit)
      return `${formatFixed(ps / unit, 2)} ${name}`;
  return `${formatFixed(ps, 0)} ps`;
}

/// At most 80 characters: a generated name can have thousands.
function shorten(text) {
  return text.length > 80 ? text.slice(0, 79) + "…" : text;
}

/// Adds the whole text as a tooltip where only a part is shown.
function wholeOf(text, shown) { return text === shown ? undefined : text; }

/// The name of a value, as it is shown.
function nameOf(item) { return "%" + shorten(items.name[item]); }

/// A difference with its sign: "+12.0 MiB".
function formatSigned(value, format) {
  if (value === 0)
    return "±0";
  return (value < 0 ? "−" : "+") + format(Math.abs(value));
}

/// "blocks.3.attn" → "blocks.*.attn".
function starred(path) {
  return path.split(".")
      .map((part, i) => i > 0 && /^\d+$/.test(part) ? "*" : part)
      .join(".");
}

/// "some/folder/models.py:117 in forward" without its folders.
function shortPlace(place) {
  const end = place.search(/:\d+( in |$)/);
  return place.slice(place.lastIndexOf("/", end < 0 ? 0 : end) + 1);
}

/// "-37 %" or "+2.1 %"; empty where there is nothing to compare with.
function formatChange(value, than) {
  if (!(than > 0))
    return "";
  const percent = 100 * (value - than) / than;
  if (Math.abs(percent) < 0.05)
    return "±0 %";
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  const number = formatFixed(Math.abs(percent), digits);
  return `${percent < 0 ? "−" : "+"}${number} %`;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

function byId(id) { return document.getElementById(id); }

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false && value !== null)
      node.setAttribute(name, value === true ? "" : String(value));
  for (const child of [].concat(children === undefined ? [] : children))
    if (child !== null && child !== false)
      node.append(child);
  return node;
}

/// An element with text and children; text is never read as markup.
function element(tag, attributes, children) {
  return fill(document.createElement(tag), attributes, children);
}

const svgSpace = "http://www.w3.org/2000/svg"; // a name, not an address

function svg(tag, attributes, children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

function replaceChildren(node, children) {
  node.replaceChildren(...[].concat(children));
}
