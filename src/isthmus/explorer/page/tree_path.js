"use strict";
// The way between two points on the spanning tree, and the hop that decides how far apart they are.

// parent, length: of each point, the next one towards the root and how far that is.
Explorer.treePath = function treePath(parent, length, from, to) {
  const up = [from];
  const position = new Map([[from, 0]]);
  for (let v = from; parent[v] >= 0; v = parent[v]) {
    position.set(parent[v], up.length);
    up.push(parent[v]);
  }
  const down = [];
  let meeting = to;
  while (!position.has(meeting)) {
    down.push(meeting);
    meeting = parent[meeting];
  }
  const points = [...up.slice(0, position.get(meeting) + 1), ...down.reverse()];
  let widest = -1;
  let distance = 0;
  for (let i = 0; i + 1 < points.length; i++) {
    const [a, b] = [points[i], points[i + 1]];
    const hop = parent[a] === b ? length[a] : length[b];
    if (hop > distance || widest < 0) [widest, distance] = [i, hop];
  }
  return { points, widest, distance };
};
