// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for the labels of both charts.
//
// A label gets the cheapest of many places: beside, above or below its point if
// that is free, else the nearest free one of a grid over the chart, with a line
// that leads to it. Marks, other labels and the axes are never covered; lines,
// and what is close to another named mark, only where there is no better
// place, for text stands on a rim of paper. Where nothing is free there is no
// label: the caption and the table name every plan.

const ruler = document.createElement("canvas").getContext("2d");

/// Pixels that a text takes, as the page draws it.
function textWidth(text, size, weight) {
  const family = getComputedStyle(document.body).fontFamily;
  ruler.font = `${weight || 400} ${size}px ${family}`;
  return ruler.measureText(text).width;
}

/// The box within `reach` of a point.
function boxAround(x, y, reach) {
  return {
    left : x - reach,
    right : x + reach,
    top : y - reach,
    bottom : y + reach
  };
}

function boxesMeet(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom &&
         b.top < a.bottom;
}

/// Does the line from `a` to `b`, each [x, y], go through the box? The part of
/// the line that is inside of each pair of edges is cut down in turn.
function lineMeets([ ax, ay ], [ bx, by ], box) {
  let from = 0, to = 1;
  for (const [start, step, low,
              high] of [[ ax, bx - ax, box.left, box.right ],
                        [ ay, by - ay, box.top, box.bottom ]]) {
    if (step === 0) {
      if (start <= low || start >= high)
        return false;
      continue;
    }
    const ends = [ (low - start) / step, (high - start) / step ];
    from = Math.max(from, Math.min(...ends));
    to = Math.min(to, Math.max(...ends));
  }
  return from < to;
}

/// The point of a box nearest to (x, y).
function nearestOf(box, x, y) {
  return [
    Math.max(box.left, Math.min(x, box.right)),
    Math.max(box.top, Math.min(y, box.bottom))
  ];
}

/// Corners of the boxes to try for a label of that size at (x, y), which keeps
/// `gap` pixels off: first those that touch the point, then a grid.
function labelCorners(x, y, size, gap, bounds) {
  const {width, height} = size;
  const corners = [];
  for (const down of [0, -12, 12])
    corners.push([ x + gap, y - height / 2 + down ],
                 [ x - gap - width, y - height / 2 + down ]);
  for (const across of [0, -width / 3, width / 3])
    corners.push([ x - width / 2 + across, y - gap - height ],
                 [ x - width / 2 + across, y + gap ]);
  for (let top = bounds.top; top + height <= bounds.bottom; top += 4)
    for (let left = bounds.left; left + width <= bounds.right; left += 4)
      corners.push([ left, top ]);
  return corners;
}

/// The place of a label of `size` (width and height in pixels) for the point
/// (x, y): a box inside of `bounds` that meets none of the boxes `taken`, or
/// null. `lines` are pairs of points that it had better not cross; a box that
/// `isNamed` belongs to a point with another label.
function placeLabel(x, y, size, gap, bounds, taken, lines) {
  let best = null, least = Infinity;
  const pointed = boxAround(x, y, 1);
  const tryCorner = ([ left, top ], at) => {
    const box =
        {left, right : left + size.width, top, bottom : top + size.height};
    const [nearX, nearY] = nearestOf(box, x, y);
    const distance = Math.hypot(nearX - x, nearY - y);
    // Among places that touch the point, the earlier ones are the usual ones.
    let cost = distance + Math.min(at, 12) / 4;
    if (cost >= least || left < bounds.left || box.right > bounds.right ||
        top < bounds.top || box.bottom > bounds.bottom ||
        taken.some(other => boxesMeet(box, other)))
      return;
    const others = taken.filter(other => !boxesMeet(other, pointed));
    const around = {
      left : box.left - 20,
      right : box.right + 20,
      top : box.top - 3,
      bottom : box.bottom + 3
    };
    cost +=
        25 * lines.filter(([ a, b ]) => lineMeets(a, b, box)).length +
        12 * others.filter(other => other.isNamed && boxesMeet(other, around))
                 .length;
    if (distance > 2 * gap)
      cost += 40 + 30 * others
                            .filter(other => lineMeets([ x, y ],
                                                       [ nearX, nearY ], other))
                            .length;
    if (cost < least)
      [best, least] = [ box, cost ];
  };
  labelCorners(x, y, size, gap, bounds).forEach(tryCorner);
  return best;
}

/// From a point to its label, if the label is not beside it; else nothing.
function leaderTo(box, x, y, gap) {
  const [nearX, nearY] = nearestOf(box, x, y);
  const distance = Math.hypot(nearX - x, nearY - y);
  if (distance <= 2 * gap)
    return [];
  const part = gap / distance;
  return [ svg("line", {
    class : "leader",
    x1 : x + (nearX - x) * part,
    y1 : y + (nearY - y) * part,
    x2 : nearX,
    y2 : nearY
  }) ];
}
