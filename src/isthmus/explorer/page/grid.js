"use strict";
// Points in the buckets of a grid: the nearest one to a place, and those within a polygon.

(() => {
  const BUCKETS = 256; // of the grid that finds the nearest point, along each side

  function extent(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (!(low <= high)) return [0, 1];
    return low === high ? [low - 1, high + 1] : [low, high];
  }

  // Points in square buckets, for the nearest one to any place.
  class Grid {
    constructor(x, y) {
      [this.x, this.y] = [x, y];
      [[this.x0, this.x1], [this.y0, this.y1]] = [extent(x), extent(y)];
      const n = x.length;
      const bucket = new Int32Array(n);
      this.starts = new Int32Array(BUCKETS * BUCKETS + 1);
      for (let i = 0; i < n; i++) {
        bucket[i] = this.column(x[i]) * BUCKETS + this.line(y[i]);
        this.starts[bucket[i] + 1]++;
      }
      for (let b = 0; b < BUCKETS * BUCKETS; b++) this.starts[b + 1] += this.starts[b];
      const next = this.starts.slice();
      this.order = new Int32Array(n);
      for (let i = 0; i < n; i++) this.order[next[bucket[i]]++] = i;
    }

    static slot(value, low, high) {
      const slot = Math.floor(((value - low) / (high - low)) * BUCKETS);
      return Math.min(BUCKETS - 1, Math.max(0, slot || 0));
    }

    column(x) {
      return Grid.slot(x, this.x0, this.x1);
    }

    line(y) {
      return Grid.slot(y, this.y0, this.y1);
    }

    // The nearest point within reach; scale is in pixels per unit. -1 where there is none.
    nearest(x, y, scaleX, scaleY, reach) {
      const [rx, ry] = [reach / scaleX, reach / scaleY];
      let [best, least] = [-1, reach * reach];
      for (let c = this.column(x - rx); c <= this.column(x + rx); c++) {
        for (let l = this.line(y - ry); l <= this.line(y + ry); l++) {
          for (let p = this.starts[c * BUCKETS + l]; p < this.starts[c * BUCKETS + l + 1]; p++) {
            const i = this.order[p];
            const dx = (this.x[i] - x) * scaleX;
            const dy = (this.y[i] - y) * scaleY;
            if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
          }
        }
      }
      return best;
    }
  }

  // The points within a polygon, by the crossings of a ray.
  function pointsWithin(x, y, xs, ys) {
    const found = [];
    for (let i = 0; i < x.length; i++) {
      let isInside = false;
      for (let a = 0, b = xs.length - 1; a < xs.length; b = a++) {
        if (ys[a] > y[i] !== ys[b] > y[i]) {
          const crossing = xs[a] + ((xs[b] - xs[a]) * (y[i] - ys[a])) / (ys[b] - ys[a]);
          if (x[i] < crossing) isInside = !isInside;
        }
      }
      if (isInside) found.push(i);
    }
    return found;
  }

  Explorer.Grid = Grid;
  Explorer.pointsWithin = pointsWithin;
})();
