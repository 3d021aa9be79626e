// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two plans side by side: figures, live bytes over the step, and the values
// whose fate differs. Values of one op in equal blocks make one row.

/// What becomes of an item under a plan, in a word.
function fateOf(plan, item) {
  const saved = plan.savedItems.get(item);
  if (saved)
    return isOwn(item, saved) ? "saved" : "kept";
  return plan.recomputedItems.has(item) ? "recomputed" : "freed";
}

/// The items whose fates differ, with both fates and the difference of saved
/// bytes, B less A.
function changesBetween(a, b) {
  const all = new Set([
    ...a.savedItems.keys(), ...a.recomputedItems, ...b.savedItems.keys(),
    ...b.recomputedItems
  ]);
  const ownOf = (plan, item) =>
      plan.savedItems.has(item) ? plan.savedItems.get(item).own : 0;
  return [...all ]
      .map(item => ({
             item,
             from : fateOf(a, item),
             to : fateOf(b, item),
             bytes : ownOf(b, item) - ownOf(a, item)
           }))
      .filter(change => change.from !== change.to || change.bytes !== 0)
      .sort((x, y) => x.item - y.item);
}

/// Changes of one kind of op, in modules that differ in numbers alone.
function groupChanges(changes) {
  const groups = new Map();
  for (const change of changes) {
    const module = starred(texts[items.module[change.item]]);
    const op = texts[items.op[change.item]];
    const key = [ module, op, change.from, change.to ].join("\n");
    if (!groups.has(key))
      groups.set(key, {
        module,
        op,
        from : change.from,
        to : change.to,
        bytes : 0,
        size : 0,
        changes : []
      });
    const group = groups.get(key);
    group.bytes += change.bytes;
    group.size += items.bytes[change.item];
    group.changes.push(change);
  }
  return [...groups.values() ].sort(
      (x, y) => Math.abs(y.bytes) - Math.abs(x.bytes) || y.size - x.size ||
                x.changes[0].item - y.changes[0].item);
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

const pairFigures = [
  [ "Peak of the step", plan => plan.peak_bytes, formatBytes ],
  [ "Saved for the backward", plan => plan.saved_bytes, formatBytes ],
  [ "Extra time", plan => plan.priced_ps, formatTime ],
  [ "Recomputed ops", plan => plan.recomputed_ops, formatCount ],
  [ "Launches", plan => plan.kernels, formatCount ],
  [ "Values saved", plan => savedCount(plan), formatCount ],
];

function savedCount(plan) {
  let count = 0;
  for (const [item, saved] of plan.savedItems)
    count += isOwn(item, saved) ? 1 : 0;
  return count;
}

function pairTable(a, b) {
  const cell = content => element("td", {}, content);
  const rows = pairFigures.map(([ name, of, format ]) => {
    const change = of(b) - of(a);
    const part = formatChange(of(b), of(a));
    return element("tr", {}, [
      element("th", {scope : "row"}, name), cell(format(of(a))),
      cell(format(of(b))), cell([
        formatSigned(change, format),
        change !== 0 && part ? element("small", {}, part) : ""
      ])
    ]);
  });
  const head = [ "", "A", "B", "B less A" ].map(
      text => element("th", {scope : "col"}, text));
  return element("table", {class : "pair-table"}, [
    element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)
  ]);
}

//===----------------------------------------------------------------------===//
// Live bytes
//===----------------------------------------------------------------------===//

/// Both totals over the step, and below them what is saved.
function drawPair() {
  const a = state.plan, b = otherPlan(), place = byId("pair-chart");
  if (!b || place.clientWidth === 0)
    return;
  const {width} = chartSize(place, 300);
  const height = 260;
  const box = {left : 58, right : width - 10, top : 22, bottom : height - 28};
  const high = 1.08 * Math.max(a.peak_bytes, b.peak_bytes, 1);
  const x = part => box.left + (box.right - box.left) * part;
  const y = bytes => box.bottom - (box.bottom - box.top) * bytes / high;
  const [unit, unitName] = byteUnit(high);
  const ticks = ticksBetween(0, high / unit, height / 60);
  const drawing = svg("svg", {
    viewBox : `0 0 ${width} ${height}`,
    width,
    height,
    role : "img",
    "aria-label" : `Live bytes over the step: A peaks at ${
        formatBytes(a.peak_bytes)} in the ${a.peak_half}, B at ${
        formatBytes(b.peak_bytes)} in the ${b.peak_half}`
  });
  drawing.append(
      ...gridY(tickTexts(ticks).map((text, i) => [y(ticks[i] * unit), text]),
               box.left, box.right),
      svg("text", {class : "axis", x : 4, y : 11}, `live bytes, ${unitName}`));
  for (const [plan, name] of [[ a, "a" ], [ b, "b" ]]) {
    const series = momentsOf(plan), places = momentPlaces(plan);
    drawing.append(svg("path", {
                     class : `pair-saved ${name}`,
                     d : stairs(places, series.saved, x, y) +
                             stairsBack(places, series.saved.map(() => 0), x, y)
                   }),
                   svg("path", {
                     class : `pair-line ${name}`,
                     d : stairs(places, series.total, x, y)
                   }));
  }
  drawHalves(drawing, x, box);
  for (const [plan, name] of [[ a, "a" ], [ b, "b" ]])
    drawing.append(svg("circle", {
      class : `pair-peak ${name}`,
      r : 4,
      cx : x(momentMiddle(plan, peakMoment(plan))),
      cy : y(Math.max(...momentsOf(plan).total))
    }));
  replaceChildren(place, drawing);
}

function momentMiddle(plan, moment) {
  const places = momentPlaces(plan);
  return (places[moment] + places[moment + 1]) / 2;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const fateTexts = {
  saved : "saved",
  recomputed : "recomputed",
  kept : "there anyway",
  freed : "freed"
};

function fateTag(fate) {
  return element("span", {class : `tag ${fate}`}, fateTexts[fate]);
}

const changeLimit = 60;

function changeRow(group) {
  const list = element("ul", {class : "change-values"});
  const row = element("details", {class : "change"}, [
    element("summary", {},
            [
              element("span", {class : "change-fates"},
                      [ fateTag(group.from), " → ", fateTag(group.to) ]),
              element("span", {class : "change-what"},
                      [
                        element("span", {class : "name"}, shorten(group.op)),
                        group.changes.length > 1 ? ` × ${group.changes.length}`
                                                 : "",
                        element("small", {title : group.module},
                                ` ${shorten(group.module)}`)
                      ]),
              element("span", {class : "number"},
                      group.bytes ? formatSigned(group.bytes, formatBytes)
                                  : formatBytes(group.size)),
            ]),
    list
  ]);
  // Values are listed when they are asked for.
  row.addEventListener("toggle", () => {
    if (!row.open || list.childElementCount)
      return;
    for (const {item} of group.changes.slice(0, changeLimit))
      list.append(element("li", {}, [
        valueButton(item),
        element("span", {class : "number"}, formatBytes(items.bytes[item])),
        element("small", {class : "whole"}, texts[items.place[item]])
      ]));
    if (group.changes.length > changeLimit)
      list.append(element(
          "li", {},
          `and ${
              formatCount(group.changes.length -
                          changeLimit)} more: search for ${group.op} below`));
  });
  return row;
}

/// "A alone saves 12 values (600.0 MiB) …".
function changeSummary(changes) {
  const count = (field, fate) => {
    const those = changes.filter(change => change[field] === fate &&
                                           change.from !== change.to);
    const bytes = those.reduce((sum, {item}) => sum + items.bytes[item], 0);
    return `${formatCount(those.length, "value")} (${formatBytes(bytes)})`;
  };
  return `A alone saves ${count("from", "saved")} and recomputes ${
      count("from", "recomputed")}; B alone saves ${
      count("to", "saved")} and recomputes ${count("to", "recomputed")}.`;
}

function showChanges(a, b) {
  const changes = changesBetween(a, b);
  const groups = groupChanges(changes);
  const isAll = byId("pair-changes").dataset.all === "true";
  const shown = isAll ? groups : groups.slice(0, 12);
  const more = element("button", {
    type : "button",
    onclick : () => {
      byId("pair-changes").dataset.all = "true";
      showChanges(a, b);
    }
  },
                       `Show all ${formatCount(groups.length)} rows`);
  replaceChildren(byId("pair-changes"), [
    element("p", {class : "caption"},
            changes.length ? changeSummary(changes)
                           : "Both save and recompute the same values."),
    ...shown.map(changeRow), shown.length < groups.length ? more : ""
  ]);
}

function showPair() {
  const a = state.plan, b = otherPlan();
  byId("pair-a").value = a.index;
  const value = state.other ? String(state.other.index) : "";
  byId("pair-b").value = value;
  byId("memory-with").value = value;
  byId("pair-view").hidden = !b;
  byId("pair-none").hidden = Boolean(b);
  byId("pair-swap").disabled = !b;
  if (!b)
    return;
  replaceChildren(byId("pair-figures"), pairTable(a, b));
  replaceChildren(
      byId("pair-legend"),
      [ [ a, "A", "a" ], [ b, "B", "b" ] ].map(
          ([ plan, letter, name ]) => element("li", {}, [
            element("span",
                    {class : `line-swatch ${name}`, "aria-hidden" : "true"}),
            ` ${letter}: ${plan.label}`
          ])));
  drawPair();
  showChanges(a, b);
}

function startPair() {
  byId("pair").hidden = false;
  state.other = defaultOther();
  const options = () => data.plans.map(
      plan => element("option", {value : plan.index}, plan.label));
  byId("pair-a").append(...options());
  for (const id of ["pair-b", "memory-with"]) {
    byId(id).append(element("option", {value : ""}, "nothing"), ...options());
    byId(id).addEventListener("change", event => {
      const {value} = event.target;
      byId("pair-changes").dataset.all = "false";
      chooseOther(value === "" ? null : data.plans[Number(value)]);
    });
  }
  byId("pair-a").addEventListener(
      "change", event => choosePlan(Number(event.target.value), true));
  byId("pair-swap").addEventListener("click", () => {
    const a = state.plan;
    state.plan = otherPlan();
    state.other = a;
    state.step = null;
    showAll();
    noteChange(true);
  });
  redrawOnResize(byId("pair-chart"), drawPair);
}
