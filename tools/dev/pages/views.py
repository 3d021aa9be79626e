# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks of the views of an HTML report that page-check calls: the arena, two
# plans side by side, links, whole texts, traces.
#
# What is drawn is compared with what must hold whatever the graph is: no two
# values share bytes at one time, nothing lies outside of the arena, live bytes
# add up to the lower bound, and the differences of two plans to those of their
# figures.

import base64
import gzip
import json
import os
import tempfile

# Of each plan's arena: what is wrong with it.
ARENA_FAULTS = """data.plans.flatMap(plan => {
  if (plan.arena.problem !== undefined)
    return [];
  const bad = [], live = [];
  const values = arenaOf(plan).values.slice().sort((a, b) => a.begin - b.begin);
  const meet = (a, b) => a.offset < b.offset + b.bytes &&
                         b.offset < a.offset + a.bytes;
  for (const value of values) {
    const name = `${plan.label}: ${items.name[value.item]}`;
    if (value.offset < 0 || value.bytes <= 0 || value.begin < 0 ||
        value.offset + value.bytes > plan.arena.bytes ||
        value.end <= value.begin || value.end > plan.ops)
      bad.push(`${name} lies outside`);
    for (let i = live.length; i-- > 0;)
      if (live[i].end <= value.begin)
        live.splice(i, 1);
      else if (meet(live[i], value))
        bad.push(`${name} on ${items.name[live[i].item]}`);
    live.push(value);
  }
  const series = momentsOf(plan);
  for (const [i, step] of series.step.entries()) {
    const sums = Object.fromEntries(liveKinds.map(kind => [kind, 0]));
    for (const value of values)
      if (value.begin <= step && step < value.end)
        sums[value.kind] += value.bytes;
    for (const kind of liveKinds)
      if (plan.arena.num_small ? sums[kind] > series[kind][i]
                               : sums[kind] !== series[kind][i])
        bad.push(`${plan.label}, op ${step}: ${sums[kind]} of ${kind}`);
  }
  if (Math.max(...series.total) !== plan.lower_bound)
    bad.push(`${plan.label}: not the lower bound`);
  return bad.slice(0, 3);
})"""

# How many colours the picture of the arena has.
COLOURS = """(() => {
  const {canvas} = arena.charts[%d];
  const {data} = canvas.getContext("2d").getImageData(
      0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let i = 0; i < data.length; i += 4)
    colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return colours.size;
})()"""

# The middle of the largest rectangle, in pixels of the window, and its name.
LARGEST = """(() => {
  const chart = arena.charts[0];
  byId("arena-a").scrollIntoView({block : "center"});
  const areas = shownValues(chart.plan).map(value => ({
    value, box : paintedBox(value, chart.scales, chart.width, chart.height)
  })).filter(({box}) => box);
  areas.sort((a, b) => b.box.width * b.box.height - a.box.width * a.box.height);
  const {value, box} = areas[0], at = chart.canvas.getBoundingClientRect();
  return {x : at.left + box.left + box.width / 2,
          y : at.top + box.top + box.height / 2,
          left : at.left, top : at.top, width : at.width, height : at.height,
          name : items.name[value.item]};
})()"""

# What a link keeps.
SHOWN = """({
  plan : state.plan.label, other : state.other && state.other.label,
  op : state.step, value : state.value, zoom : zoomText(),
  kinds : hiddenKindsText(), from : byId("arena-from").value,
  both : byId("arena-both").checked, by : byId("memory-by").value,
  across : byId("plans-x").value, search : byId("search").value,
  kept : byId("show-kept").checked,
  slider : pricePlans.includes(state.plan) ? byId("slider").value : "",
  moment : state.moment, found : byId("found").textContent,
  changes : byId("pair-changes").textContent,
  card : byId("arena-value").textContent
})"""

# Differences of two plans, against their figures.
PAIR_FAULTS = """data.plans.flatMap(a => data.plans.flatMap(b => {
  const changes = changesBetween(a, b);
  const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
  const saves = changes.filter(c => c.to === "saved" && c.from !== "saved")
      .length - changes.filter(c => c.from === "saved" && c.to !== "saved")
      .length;
  const grouped = groupChanges(changes).reduce(
      (sum, group) => sum + group.changes.length, 0);
  return bytes === b.saved_bytes - a.saved_bytes &&
         saves === savedCount(b) - savedCount(a) &&
         grouped === changes.length && (a !== b || changes.length === 0)
             ? [] : [`${a.label} / ${b.label}: ${bytes}, ${saves}`];
})).slice(0, 3)"""


def has_arena(page):
    return page.run("state.plan.arena.problem === undefined")


def check_views_everywhere(page, check, label, pictures, check_layout):
    """At each width and in each colour: everything open, and pictures."""
    page.run("byId('arena-both').checked = Boolean(otherPlan());"
             "state.value = arena.charts.length"
             "    ? arenaOf(state.plan).values[0].item : null;"
             "byId('arena-list').open = true; showAll();"
             "document.querySelectorAll('.change').forEach("
             "    (row, i) => row.open = i < 2)")
    page.settle()
    check_layout(page, check, label + ", both arenas")
    if pictures:
        for view in ("pair", "arena"):
            top, height = page.run(
                "[byId('%s').getBoundingClientRect().top + scrollY,"
                " byId('%s').offsetHeight]" % (view, view))
            page.picture("%s-%s.png" % (pictures, view), clip={
                "x": 0, "y": top, "width": page.run("innerWidth"),
                "height": height, "scale": 1})
    if has_arena(page):
        for chart in range(page.run("arena.charts.length")):
            found = page.run(COLOURS % chart)
            check("%s: arena %s is painted" % (label, "AB"[chart]), found > 3,
                  found)
    page.run("byId('arena-both').checked = false; state.value = null;"
             "byId('arena-list').open = false; showAll()")
    page.settle()


def check_arena(page, check):
    at = page.run(LARGEST)
    page.settle()
    at = page.run(LARGEST)
    page.mouse("Moved", at["x"], at["y"])
    tip = page.run("[arena.charts[0].tip.hidden,"
                   " arena.charts[0].tip.textContent]")
    check("the pointer tells a value", tip[0] is False and
          at["name"][:60] in tip[1], tip)
    page.mouse("Pressed", at["x"], at["y"])
    page.mouse("Released", at["x"], at["y"])
    card = page.run("byId('arena-value').textContent")
    check("a press keeps it", at["name"] in card and "address" in card, card)
    before = page.run("zoomText()")
    corner = at["left"] + 0.4 * at["width"], at["top"] + 0.2 * at["height"]
    page.mouse("Pressed", *corner)
    page.mouse("Moved", corner[0] + 90, corner[1] + 60, held=True)
    page.mouse("Released", corner[0] + 90, corner[1] + 60)
    check("drawing over a part zooms", page.run("zoomText()") != before)
    check_arena_keys(page, check)
    few = page.run("byId('arena-from').value = '0.05';"
                   "shownValues(state.plan).length")
    every = page.run("byId('arena-from').value = '0';"
                     "shownValues(state.plan).length")
    check("the filter takes values away", few < every or every <= 20,
          (few, every))
    page.run("document.querySelector('#arena-kinds input').click()")
    check("a kind can be hidden", page.run(
        "shownValues(state.plan).every(value => value.kind !== 'saved')"))
    page.run("document.querySelector('#arena-kinds input').click();"
             "zoomTo(null); chooseValue(null)")


def check_arena_keys(page, check):
    page.run("zoomTo(null); chooseValue(null);"
             "arena.charts[0].canvas.focus()")
    focused = "document.activeElement === arena.charts[0].canvas"
    page.press("Home")
    first = page.run("byId('arena-value').textContent")
    page.press("ArrowRight")
    second = page.run("byId('arena-value').textContent")
    check("arrows go from value to value", first != second or
          page.run("arenaOf(state.plan).values.length") < 2, first[:60])
    page.press("ArrowUp")
    page.press("ArrowDown")
    page.press("+", "+")
    check("+ zooms, and the focus stays",
          page.run("arena.window !== null") and page.run(focused))
    page.press("0", "0")
    check("0 shows all", page.run("arena.window === null"))
    page.press("Escape")
    check("Escape lets the value go", page.run("state.value === null"))


def check_pair(page, check):
    cells = page.run("byId('pair-figures').textContent")
    wanted = page.run("[state.plan, otherPlan()].map("
                      "plan => formatBytes(plan.peak_bytes))")
    check("two plans: peaks of both", all(peak in cells for peak in wanted),
          cells)
    lines = page.run("document.querySelectorAll('.pair-line').length")
    check("two plans: both curves", lines == 2, lines)
    before = page.run("[state.plan.label, state.other.label]")
    page.run("byId('pair-swap').click()")
    after = page.run("[state.plan.label, state.other.label]")
    check("two plans: swapped", before == after[::-1], after)
    page.run("byId('pair-swap').click()")
    same = page.run("byId('pair-b').value = state.plan.index;"
                    "byId('pair-b').dispatchEvent(new Event('change'));"
                    "[byId('pair-view').hidden, byId('pair-none').hidden]")
    check("two plans: a plan beside itself", same == [True, False], same)
    page.run("chooseOther(defaultOther())")


def check_link(page, check):
    """A link opens what was shown when it was copied."""
    page.settle(0.5)
    home = page.run("location.href.split('#')[0]")
    page.run("scrollTo(0, 0); followLink('')")
    page.settle(0.9)
    first = page.run(SHOWN)
    page.run("choosePlan((data.chosen + 1) % data.plans.length, true);"
             "chooseOther(data.plans[data.plans.length - 1]);"
             "byId('memory-by').value = 'module'; drawMemory();"
             "byId('plans-x').value = 'saved'; drawPlans();"
             "byId('show-kept').checked = true;"
             "byId('search').value = 'a'; drawTree(null);"
             "showMoment(1); noteMoment()")
    if has_arena(page):
        page.run("byId('arena-from').value = '0.001';"
                 "chooseValue(arenaOf(state.plan).values[0].item);"
                 "arena.hidden.add('result');"
                 "zoomTo({left : 0.25, right : 0.5, low : 0, high : null})")
    page.settle(0.6)
    chosen = page.run(SHOWN)
    check("the address follows", page.run("location.href === linkNow()") and
          page.run("location.hash").startswith("#plan="),
          page.run("location.href")[-80:])
    page.reload()
    check("a link opens what was shown", page.run(SHOWN) == chosen,
          {key: value for key, value in page.run(SHOWN).items()
           if value != chosen[key]})
    page.run("history.back()")
    page.settle(0.6)
    check("back is what was before", page.run(SHOWN) == first,
          {key: value for key, value in page.run(SHOWN).items()
           if value != first[key]})
    page.run("history.forward()")
    page.settle(0.6)
    check("forward again", page.run(SHOWN) == chosen)
    page.run("byId('copy-link').click()")
    page.settle()
    said = page.run("[byId('copy-link').textContent,"
                    " byId('link-text').hidden, byId('link-text').textContent]")
    check("the link is copied, or shown", (said[0] == "Copied" or not said[1])
          and said[2].startswith(home + "#plan="), said)
    check_links_from_elsewhere(page, check, first)


def check_links_from_elsewhere(page, check, first):
    """What a fragment says wrongly is passed over."""
    for wrong in ("plan=nobody&with=nothing&op=99999999&value=%00&zoom=5,1,x",
                  "plan=__proto__&view=constructor&value=__proto__&op=-1",
                  "zoom=a&kinds=none&from=17&view=body&by=nothing&across=1"):
        page.run("followLink('%s')" % wrong)
        found = page.run(SHOWN)
        check("wrong links are passed over: " + wrong[:12], found == first,
              found)
    page.run("followLink('')")
    page.settle(0.5)
    page.run("showView('arena')")
    page.settle(0.9)
    check("a view is in the link", "view=arena" in page.run("location.hash") and
          abs(page.run("byId('arena').getBoundingClientRect().top")) < 200,
          page.run("location.hash"))
    page.run("followLink(''); scrollTo(0, 0)")
    page.settle(0.9)


def check_whole_texts(page, check):
    """Of the value with the longest place: all of it, to be copied."""
    item = page.run("[...items.place.keys()].reduce((best, item) =>"
                    " texts[items.place[item]].length >"
                    " texts[items.place[best]].length ? item : best, 0)")
    page.run("chooseValue(%d)" % item)
    shown = page.run("[...byId('arena-value').querySelectorAll('.whole')]"
                     ".map(e => e.textContent)")
    wanted = page.run("['%%' + items.name[%d], texts[items.module[%d]],"
                      " texts[items.place[%d]]]" % (item, item, item))
    check("texts are whole", shown == [text for text in wanted if text], shown)
    page.run("byId('arena-value').querySelector('.copy').click()")
    page.settle()
    said = page.run("byId('arena-value').querySelector('.copy').textContent")
    check("texts can be copied", said in ("Copied", "Selected"), said)
    page.run("chooseValue(null)")


def trace_faults(trace, plan):
    """What is wrong with a trace, against the figures of its plan."""
    bad, ends = [], {}
    last = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            continue
        if event["ts"] < last.get(event["ph"], 0):
            bad.append("time goes back at %s" % event)
        last[event["ph"]] = event["ts"]
        if event["ph"] != "X":
            continue
        if event["ts"] + 1e-6 < max(ends.values(), default=0):
            bad.append("overlap at %s" % event)
        ends[event["tid"]] = event["ts"] + event["dur"]
    launches = sum(e["ph"] == "X" for e in trace["traceEvents"])
    if launches != plan["kernels"]:
        bad.append("%d launches of %d" % (launches, plan["kernels"]))
    most = max((e["args"]["bytes"] for e in trace["traceEvents"]
                if e["name"] == "arena bytes in use"), default=0)
    if most != plan["lower_bound"] and most != plan["peak_bytes"]:
        bad.append("peak of %d" % most)
    return bad


def check_traces(page, check):
    plans = page.run("data.plans.map(plan => ({label : plan.label,"
                     " kernels : plan.kernels, trace : plan.trace || null,"
                     " lower_bound : plan.lower_bound,"
                     " peak_bytes : plan.peak_bytes}))")
    bad = []
    for plan in plans:
        if plan["trace"]:
            text = gzip.decompress(base64.b64decode(plan["trace"]))
            bad += ["%s: %s" % (plan["label"], fault)
                    for fault in trace_faults(json.loads(text), plan)]
    check("traces of %d plans" % sum(bool(plan["trace"]) for plan in plans),
          not bad, bad[:3])
    if not page.run("Boolean(state.plan.trace)"):
        return
    with tempfile.TemporaryDirectory() as folder:
        page.call("Page.setDownloadBehavior", behavior="allow",
                  downloadPath=folder)
        page.run("byId('trace-save').click()")
        for _ in range(50):
            page.settle(0.1)
            files = [name for name in os.listdir(folder)
                     if name.endswith(".trace.json.gz")]
            if files:
                break
        chosen = plans[page.run("state.plan.index")]["trace"]
        data = open(os.path.join(folder, files[0]), "rb").read() if files \
            else b""
        check("the trace is saved", data == base64.b64decode(chosen), files)


def check_data(page, check):
    """What does not depend on the window."""
    bad = page.run(ARENA_FAULTS)
    check("arenas: values lie apart, inside, and add up", not bad, bad[:3])
    bad = page.run(PAIR_FAULTS)
    check("two plans: what changes adds up", not bad, bad)
    check_traces(page, check)


def check_views(page, check):
    if has_arena(page):
        check_arena(page, check)
    if page.run("otherPlan() !== null"):
        check_pair(page, check)
    check_link(page, check)
    check_whole_texts(page, check)
