// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions as a tree of modules, and recomputed ops by kind.
//
// A row of the tree is a module, a run of equal blocks ("0–11"), or a value.
// Only rows that can be seen are made: children when their row opens, at most
// 200 of a row until more are asked for. Opened rows are remembered by path, so
// the tree keeps its shape when the plan changes.

const treeLimit = 200;
const opened = new Set(); // by the reader
// Open of themselves: while something is searched for, and single rows.
const openedBySearch = new Set();
const closed = new Set();       // of these, by the reader
const unfoldedRows = new Map(); // path → how many children are shown

/// Is an item that a plan saves kept for the backward only?
function isOwn(item, {own}) {
  return own > 0 || (!items.argument[item] && items.bytes[item] === 0);
}

/// What the tree shows of a plan: one entry a value.
function entriesOf(plan) {
  const entries = [];
  for (const [item, {own, reason}] of plan.savedItems)
    entries.push({
      item,
      own,
      why : reason,
      fate : isOwn(item, {own}) ? "saved" : "kept"
    });
  for (const item of plan.recomputedItems)
    if (!plan.savedItems.has(item))
      entries.push({
        item,
        own : 0,
        why : "cheaper to recompute than to keep",
        fate : "recomputed"
      });
  return entries;
}

function searchText(entry) {
  const item = entry.item;
  return [
    items.name[item], texts[items.op[item]], texts[items.module[item]],
    texts[items.place[item]], entry.why, entry.fate
  ].join("\n")
      .toLowerCase();
}

function wantedEntries(plan) {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = {
    saved : byId("show-saved").checked,
    recomputed : byId("show-recomputed").checked,
    kept : byId("show-kept").checked
  };
  const all = entriesOf(plan).filter(entry => shown[entry.fate]);
  if (!words.length)
    return {all, found : all};
  const found = all.filter(entry => {
    const text = searchText(entry);
    return words.every(word => text.includes(word));
  });
  return {all, found};
}

//===----------------------------------------------------------------------===//
// Tree
//===----------------------------------------------------------------------===//

function newNode(name, path) {
  return {
    name,
    path,
    children : new Map(),
    entries : [],
    own : 0,
    saved : 0,
    recomputed : 0,
    first : Infinity
  };
}

function addToNode(node, entry) {
  node.own += entry.own;
  node.saved += entry.fate === "saved" ? 1 : 0;
  node.recomputed += entry.fate === "recomputed" ? 1 : 0;
  node.first = Math.min(node.first, entry.item);
}

function buildTree(entries) {
  const root = newNode("", "");
  for (const entry of entries) {
    const module = texts[items.module[entry.item]];
    const parts = data.modules && !module.startsWith("(") ? module.split(".")
                                                          : [ module ];
    let node = root;
    addToNode(root, entry);
    for (const part of parts) {
      if (!node.children.has(part))
        node.children.set(part, newNode(part, `${node.path}/${part}`));
      node = node.children.get(part);
      addToNode(node, entry);
    }
    node.entries.push(entry);
  }
  return root;
}

/// Equal for modules that hold the same kinds of decisions in the same places.
function signature(node) {
  if (node.signature === undefined) {
    const own = node.entries.map(e => `${texts[items.op[e.item]]}:${e.fate}`);
    const inner = [...node.children.values() ].map(
        child => `${child.name}(${signature(child)})`);
    node.signature = own.sort().concat(inner.sort()).join(",");
  }
  return node.signature;
}

/// "0–3,5" for ascending numbers.
function rangesText(numbers) {
  const parts = [];
  for (let i = 0, end; i < numbers.length; i = end) {
    for (end = i + 1; numbers[end] === numbers[end - 1] + 1;)
      ++end;
    parts.push(end - i > 1 ? `${numbers[i]}–${numbers[end - 1]}`
                           : String(numbers[i]));
  }
  return parts.join(",");
}

/// Numbered children with equal content become one row.
function foldBlocks(node) {
  const out = [], groups = new Map();
  for (const child of node.children.values()) {
    if (!/^\d{1,9}$/.test(child.name)) {
      out.push(child);
      continue;
    }
    const key = signature(child);
    if (!groups.has(key))
      groups.set(key, []);
    groups.get(key).push(child);
  }
  for (const blocks of groups.values()) {
    if (blocks.length < 2) {
      out.push(...blocks);
      continue;
    }
    blocks.sort((a, b) => a.name - b.name);
    const ranges = rangesText(blocks.map(block => Number(block.name)));
    const fold = newNode(ranges, `${node.path}/${ranges}`);
    fold.blocks = blocks.length;
    for (const block of blocks) {
      fold.children.set(` ${block.name}`, block);
      for (const sum of ["own", "saved", "recomputed"])
        fold[sum] += block[sum];
      fold.first = Math.min(fold.first, block.first);
    }
    out.push(fold);
  }
  return out;
}

function childrenOf(node) {
  const nodes = node.blocks ? [...node.children.values() ] : foldBlocks(node);
  const rows = nodes.map(child => ({
                           node : child,
                           path : child.path,
                           bytes : child.own,
                           first : child.first,
                           name : child.name
                         }));
  for (const entry of node.entries)
    rows.push({
      entry,
      path : `${node.path}/%${entry.item}`,
      bytes : entry.own || (entry.fate === "recomputed" ? -1 : 0),
      first : entry.item,
      name : items.name[entry.item]
    });
  const by = byId("sort").value;
  const natural = (a, b) =>
      a.name.localeCompare(b.name, "en", {numeric : true});
  rows.sort(by === "model"  ? (a, b) => a.first - b.first
            : by === "name" ? natural
                            : (a, b) => b.bytes - a.bytes || a.first - b.first);
  return rows;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

function countsText(node) {
  const parts = [];
  if (node.blocks)
    parts.push(`${node.blocks} equal blocks`);
  if (node.saved)
    parts.push(`${formatCount(node.saved)} saved`);
  if (node.recomputed)
    parts.push(`${formatCount(node.recomputed)} recomputed`);
  return parts.join(", ");
}

function byteBar(bytes, most) {
  const width = most > 0 ? 100 * Math.max(bytes, 0) / most : 0;
  const bar = element("span", {class : "bytebar", "aria-hidden" : "true"},
                      element("span"));
  bar.firstChild.style.width = `${width.toFixed(1)}%`;
  return bar;
}

function nodeCells(node, most) {
  return [
    element("span",
            {class : "name", title : wholeOf(node.name, shorten(node.name))},
            shorten(node.name) || "(model)"),
    byteBar(node.own, most),
    element("span", {class : "number"}, formatBytes(node.own)),
    element("span", {class : "why"}, countsText(node)),
  ];
}

const fateNames = {
  saved : "saved",
  recomputed : "recomputed",
  kept : "there anyway"
};

function entryCells(entry, most) {
  const item = entry.item;
  const bytes = entry.fate === "saved" ? entry.own : items.bytes[item];
  return [
    element(
        "span", {class : "name"},
        [
          element("span", {class : `tag ${entry.fate}`}, fateNames[entry.fate]),
          ` ${nameOf(item)} `,
          element("small", {}, shorten(texts[items.op[item]]))
        ]),
    byteBar(entry.own, most),
    element("span",
            {class : entry.fate === "saved" ? "number" : "number quiet"},
            formatBytes(bytes)),
    element(
        "span", {class : "why"},
        [
          entry.why, texts[items.place[item]]
                         ? element("small", {title : texts[items.place[item]]},
                                   ` ${shortPlace(texts[items.place[item]])}`)
                         : null
        ]),
  ];
}

function isRowOpen(path) {
  return openedBySearch.has(path) ? !closed.has(path) : opened.has(path);
}

function addRows(list, node, level, most) {
  const rows = childrenOf(node);
  const limit = unfoldedRows.get(node.path) || treeLimit;
  for (const row of rows.slice(0, limit)) {
    const isOpen = isRowOpen(row.path);
    const line = element("div", {
      class : row.entry ? "row value" : "row module",
      role : "treeitem",
      tabindex : -1,
      "aria-level" : level,
      "aria-expanded" : isOpen ? "true" : "false",
      "data-path" : row.path
    },
                         row.entry ? entryCells(row.entry, most)
                                   : nodeCells(row.node, most));
    line.style.setProperty("--level", level - 1);
    list.push(line);
    if (isOpen && row.node)
      addRows(list, row.node, level + 1, most);
    else if (isOpen)
      list.push(detailOf(row.entry, level));
  }
  if (rows.length > limit) {
    const more = element("div", {
      class : "row more",
      role : "treeitem",
      tabindex : -1,
      "aria-level" : level,
      "data-more" : node.path
    },
                         `Show ${formatCount(rows.length - limit)} more`);
    more.style.setProperty("--level", level - 1);
    list.push(more);
  }
}

//===----------------------------------------------------------------------===//
// One value
//===----------------------------------------------------------------------===//

function costText(ps) { return ps < 0 ? "never" : formatTime(ps); }

/// Where the backward finds a value under a plan.
function sourceText(plan, item) {
  if (plan.savedItems.has(item))
    return items.argument[item] ? "argument" : "saved";
  if (plan.recomputedItems.has(items.first[item]))
    return "recomputed";
  return items.argument[item] ? "argument" : "in a saved storage";
}

/// What recomputing `item` runs, as nested lists; each op once.
function chainOf(plan, item, seen, budget) {
  const list = element("ul");
  for (const need of items.needs[items.first[item]]) {
    if (budget.left-- <= 0) {
      list.append(element("li", {}, "…"));
      break;
    }
    const source = sourceText(plan, need);
    const first = items.first[need];
    const isAgain = source === "recomputed" && seen.has(first);
    const line = element("li", {}, [
      `${nameOf(need)} `,
      element("span", {class : `tag ${source.split(" ")[0]}`},
              isAgain ? "recomputed, see above" : source)
    ]);
    if (source === "recomputed" && !isAgain) {
      seen.add(first);
      if (items.needs[first].length)
        line.append(chainOf(plan, need, seen, budget));
    }
    list.append(line);
  }
  return list;
}

/// Which plans of the slider recompute the value, in words.
function otherPlansText(item) {
  const again =
      pricePlans.filter(plan => plan.recomputedItems.has(items.first[item]) &&
                                !plan.savedItems.has(item));
  if (!again.length)
    return "no plan on the slider recomputes it";
  if (again.length === pricePlans.length)
    return "every plan on the slider recomputes it";
  return `recomputed in: ${again.map(plan => plan.label).join(", ")}`;
}

/// What is known of a value whatever the plan, as terms and descriptions.
function factsOf(item) {
  return [
    ...fact("value", copyable(`%${items.name[item]}`)),
    ...fact("op", texts[items.op[item]]),
    ...fact("type", texts[items.type[item]]),
    ...fact("size", `${formatBytes(items.bytes[item])} (${
                        formatCount(items.bytes[item])} bytes)`),
    ...fact("module", copyable(texts[items.module[item]])),
    ...fact("source", copyable(texts[items.place[item]])),
  ];
}

/// Nothing, where there is nothing to say.
function fact(name, value) {
  return value === "" ? []
                      : [ element("dt", {}, name), element("dd", {}, value) ];
}

function detailOf(entry, level) {
  const item = entry.item, plan = state.plan;
  const facts = element("dl", {}, [
    ...factsOf(item),
    ...fact("why", entry.why),
    ...fact("saving costs", costText(items.save_ps[item])),
    ...fact("recomputing costs",
            items.argument[item] ? "" : costText(items.recompute_ps[item])),
    ...fact("other plans", items.argument[item] ? "" : otherPlansText(item)),
  ]);
  const detail = element("div", {class : "detail", role : "none"}, facts);
  if (entry.fate === "recomputed" && items.needs[items.first[item]].length)
    detail.append(
        element("p", {}, "Recomputed from"),
        chainOf(plan, item, new Set([ items.first[item] ]), {left : 60}));
  detail.style.setProperty("--level", level);
  return detail;
}

//===----------------------------------------------------------------------===//
// Showing it
//===----------------------------------------------------------------------===//

/// Adds the paths of all modules below `node` to `paths`.
function openPaths(node, budget, paths) {
  for (const row of childrenOf(node)) {
    if (!row.node || budget.left <= 0)
      continue;
    --budget.left;
    paths.add(row.path);
    openPaths(row.node, budget, paths);
  }
}

/// A row with nothing beside it opens by itself.
function openOnly(node, paths) {
  const rows = childrenOf(node);
  if (rows.length !== 1 || !rows[0].node)
    return;
  paths.add(rows[0].path);
  openOnly(rows[0].node, paths);
}

function drawTree(focusPath) {
  const plan = state.plan;
  const {all, found} = wantedEntries(plan);
  const root = buildTree(found);
  openedBySearch.clear();
  if (byId("search").value.trim() && found.length <= treeLimit)
    openPaths(root, {left : 1000}, openedBySearch);
  else
    openOnly(root, openedBySearch);
  const rows = [];
  const most = Math.max(...childrenOf(root).map(row => row.bytes).concat(1));
  addRows(rows, root, 1, most);
  const tree = byId("tree");
  replaceChildren(
      tree, rows.length ? rows : element("p", {class : "caption"}, "Nothing."));
  const own = found.reduce((sum, entry) => sum + entry.own, 0);
  byId("found").textContent =
      (found.length === all.length ? formatCount(all.length, "value")
                                   : `${formatCount(found.length)} of ${
                                         formatCount(all.length, "value")}`) +
      ` · ${formatBytes(own)} saved for the backward`;
  const lines = treeLines();
  const focused = lines.find(line => line.dataset.path === focusPath);
  const stop = focused || lines[0];
  if (stop)
    stop.tabIndex = 0;
  if (focused)
    focused.focus();
}

function treeLines() {
  return [...byId("tree").querySelectorAll("[role=treeitem]") ];
}

function toggleRow(line, open) {
  if (line.dataset.more !== undefined) {
    const path = line.dataset.more;
    const shown = unfoldedRows.get(path) || treeLimit;
    unfoldedRows.set(path, shown + treeLimit);
    drawTree(null);
    return;
  }
  const path = line.dataset.path;
  if (openedBySearch.has(path))
    closed[open ? "delete" : "add"](path);
  else
    opened[open ? "add" : "delete"](path);
  drawTree(path);
}

function onTreeKey(event) {
  const line = event.target.closest("[role=treeitem]");
  if (!line)
    return;
  const lines = treeLines(), at = lines.indexOf(line);
  const isOpen = line.getAttribute("aria-expanded") === "true";
  const level = Number(line.getAttribute("aria-level"));
  let next = null;
  if (event.key === "ArrowDown")
    next = lines[at + 1];
  else if (event.key === "ArrowUp")
    next = lines[at - 1];
  else if (event.key === "Home")
    next = lines[0];
  else if (event.key === "End")
    next = lines[lines.length - 1];
  else if (event.key === "ArrowRight" && isOpen)
    next = lines[at + 1];
  else if (event.key === "ArrowLeft" && !isOpen)
    next = lines.slice(0, at).reverse().find(
        other => Number(other.getAttribute("aria-level")) < level);
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft")
    toggleRow(line, event.key === "ArrowRight");
  else if (event.key === "Enter" || event.key === " ")
    toggleRow(line, !isOpen);
  else
    return;
  event.preventDefault();
  if (next) {
    line.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/// Recomputed ops by kind, with what running them again costs.
function showKinds() {
  const kinds = new Map();
  for (const item of state.plan.recomputedItems) {
    const name = texts[items.op[item]];
    const kind = kinds.get(name) || {name, count : 0, ps : 0};
    ++kind.count;
    kind.ps += Math.max(items.recompute_ps[item], 0);
    kinds.set(name, kind);
  }
  const rows = [...kinds.values() ].sort((a, b) => b.count - a.count ||
                                                   (a.name < b.name ? -1 : 1));
  const most = rows.length ? rows[0].count : 1;
  replaceChildren(byId("kinds-view"),
                  rows.length
                      ? element("ul", {class : "kinds"},
                                rows.map(kind => element("li", {}, [
                                           element("span", {class : "name"},
                                                   shorten(kind.name)),
                                           byteBar(kind.count, most),
                                           element("span", {class : "number"},
                                                   formatCount(kind.count)),
                                           element("span", {class : "quiet"},
                                                   formatTime(kind.ps))
                                         ])))
                      : element("p", {}, "Nothing is recomputed."));
}

function startDecisions() {
  byId("decisions").hidden = false;
  byId("kinds").hidden = false;
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    closed.clear();
    waiting = setTimeout(() => drawTree(null), 60);
    noteChange(false);
  });
  for (const id of ["sort", "show-saved", "show-recomputed", "show-kept"])
    byId(id).addEventListener("change", () => {
      drawTree(null);
      noteChange(true);
    });
  byId("open-all").addEventListener("click", () => {
    closed.clear();
    openPaths(buildTree(wantedEntries(state.plan).found), {left : 400}, opened);
    drawTree(null);
  });
  byId("close-all").addEventListener("click", () => {
    opened.clear();
    unfoldedRows.clear();
    closed.clear();
    for (const path of openedBySearch)
      closed.add(path);
    drawTree(null);
  });
  const tree = byId("tree");
  tree.addEventListener("keydown", onTreeKey);
  tree.addEventListener("click", event => {
    const line = event.target.closest("[role=treeitem]");
    if (line)
      toggleRow(line, line.getAttribute("aria-expanded") !== "true");
  });
}
