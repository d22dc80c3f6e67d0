"use strict";
// The points, drawn by Bokeh. Everything that a pointer does to them is found out here.

(() => {
  const REACH = 14; // pixels from the pointer to the point that is meant

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
      this.image = model("image data");
      this.sources = Object.fromEntries(
        ["path", "hop", "picked", "names"].map((name) => [name, model(`${name} data`)]),
      );
      this.glyphs = Object.fromEntries(
        ["path", "hop", "picked"].map((name) => [name, model(name).glyph]),
      );
      this.plot.on_event("tap", (event) => this.on.pick(this.at(event.x, event.y)));
      this.plot.on_event("mousemove", (event) => this.on.hover(this.at(event.x, event.y)));
      this.plot.on_event("mouseleave", () => this.on.hover(-1));
      this.plot.on_event("selectiongeometry", ({ geometry, final: isFinal }) => {
        if (isFinal) this.on.select(Explorer.pointsWithin(this.x, this.y, geometry.x, geometry.y));
      });
      this.plot.on_event("reset", () => this.on.select([]));
      this.plot.on_event("rangesupdate", () => this.drawSoon());
      new ResizeObserver(() => this.drawSoon()).observe(target);
    }

    get x() {
      return this.points.axes[this.axes[0]].values;
    }

    get y() {
      return this.points.axes[this.axes[1]].values;
    }

    // Draw other axes, by their numbers.
    setAxes(x, y) {
      this.axes = [x, y];
      this.grid = new Explorer.Grid(this.x, this.y);
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
      [this.paints, this.colours] = [paints, colours];
      this.drawImage();
    }

    // In the next frame: ranges and sizes may change many times before.
    drawSoon() {
      if (this.isWaiting) return;
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.drawImage();
      });
    }

    drawImage() {
      const { x_range, y_range, inner_width, inner_height } = this.plot;
      const [width, height] = [inner_width, inner_height].map((n) =>
        Math.round(n * devicePixelRatio),
      );
      if (!(width > 0 && height > 0) || this.colours === undefined) {
        this.drawSoon();
        return;
      }
      const view = { x0: x_range.start, x1: x_range.end, y0: y_range.start, y1: y_range.end };
      const pixels = this.pixelsOf(width, height);
      const diameter = devicePixelRatio * Math.min(9, Math.max(3, 17 - 3 * Math.log10(this.n + 1)));
      const { palette, count } = this.colours;
      Explorer.drawDiscs(
        { bytes: new Uint8Array(pixels.buffer), words: pixels, width, height },
        { x: this.x, y: this.y, paints: this.paints, palette, firstFaded: count + 1, diameter },
        view,
      );
      Object.assign(this.image.data, {
        image: [pixels],
        x: [view.x0],
        y: [view.y0],
        dw: [view.x1 - view.x0],
        dh: [view.y1 - view.y0],
      });
      this.image.change.emit();
    }

    // Empty pixels, in Bokeh's kind of array, of which the figure came with one.
    pixelsOf(width, height) {
      const [last] = this.image.data.image;
      if (last.length === width * height && last.shape[1] === width) return last.fill(0);
      return new last.constructor(width * height, [height, width]);
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
      const hop =
        path === null || path.widest < 0 ? [] : path.points.slice(path.widest, path.widest + 2);
      this.sources.hop.data = at(hop);
    }

    drawTheme(ink, faint, line, warn) {
      for (const axis of [...this.plot.below, ...this.plot.left]) {
        axis.setv({
          major_label_text_color: faint,
          axis_line_color: line,
          major_tick_line_color: line,
          minor_tick_line_color: null,
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
