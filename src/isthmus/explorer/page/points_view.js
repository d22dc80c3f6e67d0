"use strict";
// The points, drawn by Bokeh. Everything that a pointer does to them is found out here.

(() => {
  const BUCKETS = 256; // of the grid that finds the nearest point, along each side
  const REACH = 14; // pixels from the pointer to the point that is meant

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

    column(x) { return Grid.slot(x, this.x0, this.x1); }

    line(y) { return Grid.slot(y, this.y0, this.y1); }

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

  class PointsView {
    // on: { pick(point), hover(point or -1), select(points) }
    constructor(points, on) {
      this.points = points;
      this.on = on;
      this.n = points.cell.length;
      this.paints = new Uint8Array(this.n);
      this.axes = [0, 1];
    }

    async embed(item, target) {
      const views = await Bokeh.embed.embed_item(item, target);
      this.plot = [...views][0].model;
      const model = (name) => this.plot.document.get_model_by_name(name);
      this.source = model("points");
      this.mapper = model("mapper");
      this.sources = Object.fromEntries(
        ["path", "hop", "picked", "names"].map((name) => [name, model(`${name} data`)]));
      this.glyphs = Object.fromEntries(
        ["markers", "path", "hop", "picked", "names"].map((name) => [name, model(name).glyph]));
      this.glyphs.markers.size = { value: Math.min(9, Math.max(3, 17 - 3 * Math.log10(this.n + 1))) };
      this.plot.on_event("tap", (event) => this.on.pick(this.at(event.x, event.y)));
      this.plot.on_event("mousemove", (event) => this.on.hover(this.at(event.x, event.y)));
      this.plot.on_event("mouseleave", () => this.on.hover(-1));
      const selected = () => setTimeout(() => this.on.select([...this.source.selected.indices]));
      this.plot.on_event("selectiongeometry", selected);
      this.plot.on_event("reset", () => {
        this.source.selected.indices = [];
        selected();
      });
    }

    get x() { return this.points.axes[this.axes[0]].values; }

    get y() { return this.points.axes[this.axes[1]].values; }

    // Draw other axes, by their numbers.
    setAxes(x, y) {
      this.axes = [x, y];
      this.grid = new Grid(this.x, this.y);
      for (const [range, low, high] of [
        [this.plot.x_range, this.grid.x0, this.grid.x1],
        [this.plot.y_range, this.grid.y0, this.grid.y1],
      ]) {
        const margin = 0.05 * (high - low);
        const [start, end] = [low - margin, high + margin];
        range.setv({ start, end, reset_start: start, reset_end: end });
      }
    }

    // paints: for each point, an index into the palette
    draw(paints, colours) {
      this.paints = paints;
      const { palette } = colours;
      this.mapper.setv({ palette, low: -0.5, high: palette.length - 0.5 });
      this.source.data = { x: this.x, y: this.y, paint: paints };
    }

    // labels: [{ point, text, colour }]
    drawNames(labels) {
      this.sources.names.data = {
        x: labels.map(({ point }) => this.x[point]),
        y: labels.map(({ point }) => this.y[point]),
        text: labels.map(({ text }) => text),
        back: labels.map(({ colour }) => colour),
        ink: labels.map(({ colour }) => Explorer.Colours.inkOn(colour)),
      };
    }

    // path: as treePath returns it, or null; picked: the points that were clicked
    drawPath(path, picked) {
      const at = (points) => ({
        x: Array.from(points, (i) => this.x[i]),
        y: Array.from(points, (i) => this.y[i]),
      });
      this.sources.picked.data = at(picked);
      this.sources.path.data = at(path === null ? [] : path.points);
      const hop = path === null || path.widest < 0 ? [] : path.points.slice(path.widest, path.widest + 2);
      this.sources.hop.data = at(hop);
    }

    drawTheme(ink, faint, line, warn) {
      for (const axis of [...this.plot.below, ...this.plot.left]) {
        axis.setv({
          major_label_text_color: faint, axis_line_color: line,
          major_tick_line_color: line, minor_tick_line_color: null,
        });
      }
      for (const grid of this.plot.center) {
        if ("grid_line_color" in grid) grid.setv({ grid_line_color: line, grid_line_alpha: 0.6 });
      }
      this.glyphs.path.line_color = { value: ink };
      this.glyphs.hop.line_color = { value: warn };
      this.glyphs.picked.line_color = { value: ink };
    }

    at(x, y) {
      const { x_range, y_range, inner_width, inner_height } = this.plot;
      const scaleX = inner_width / (x_range.end - x_range.start);
      const scaleY = inner_height / (y_range.end - y_range.start);
      return this.grid.nearest(x, y, scaleX, scaleY, REACH);
    }
  }

  Explorer.PointsView = PointsView;
})();
