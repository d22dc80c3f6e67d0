"use strict";
// The page: what is on the screen, and how its parts follow from it.

(() => {
  const { byId, count, html, shortNumber } = Explorer;

  class App {
    constructor(data) {
      this.data = data;
      this.partition = new Explorer.Partition(data);
      this.threshold = data.scoreSteps + 1; // in steps of scores; above all of them
      this.picked = []; // points that were clicked, two at most
      this.selection = [];
      this.highlight = null; // { node } or { label }
      this.points = new Explorer.PointsView(data.points, {
        pick: (point) => this.pick(point),
        hover: (point) => this.hover(point),
        select: (points) => this.select(points),
      });
      this.dendrogram = new Explorer.DendrogramView(
        data,
        this.partition.tree,
        byId("dendrogram"),
        (node) => this.clickBranch(node),
      );
      this.evidence = new Explorer.EvidenceView(data, byId("evidence"), (k) => this.setNumber(k));
      this.table = new Explorer.TableView(data, byId("clusters"), (label) =>
        this.clickCluster(label),
      );
    }

    async start(item) {
      Explorer.connectControls(this);
      this.drawFacts();
      await this.points.embed(item, byId("plot"));
      this.points.setAxes(0, 1);
      this.refresh();
      let { innerWidth: width } = window;
      addEventListener("resize", () => {
        if (innerWidth !== width) this.refresh();
        width = innerWidth;
      });
    }

    // What is on the screen --------------------------------------------------------------------

    setNumber(k) {
      this.changed(() => this.partition.setNumber(k));
    }

    undo() {
      this.changed(() => this.partition.undo());
    }

    changed(change) {
      this.highlight = null;
      change();
      this.refresh();
    }

    clickBranch(node) {
      this.partition.divide(node);
      this.highlight = { node };
      this.refresh();
    }

    unite() {
      this.partition.unite(this.highlight.node);
      this.refresh();
    }

    separate() {
      this.partition.separate(this.highlight.node);
      this.refresh();
    }

    clickCluster(label) {
      this.highlight = this.highlight?.label === label ? null : { label };
      this.refresh();
    }

    showAll() {
      this.highlight = null;
      this.setPicked([]);
      this.select([]);
      this.refresh();
    }

    setThreshold(steps) {
      this.threshold = steps;
      this.drawPoints();
      this.drawOutliers();
    }

    setAxes(x, y) {
      this.points.setAxes(x, y);
      this.refresh();
      this.drawPath();
    }

    switchTheme() {
      document.documentElement.dataset.theme = this.isDark ? "light" : "dark";
      this.refresh();
    }

    get isDark() {
      const { theme } = document.documentElement.dataset;
      return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    }

    // Points -----------------------------------------------------------------------------------

    rowOf(point) {
      return this.data.points.row === null ? point : this.data.points.row[point];
    }

    // The point that a row is drawn as; -1 where it is not shown.
    pointOf(row) {
      const { row: rows } = this.data.points;
      if (rows === null) return row >= 0 && row < this.data.nRows ? row : -1;
      let [low, high] = [0, rows.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (rows[middle] < row) low = middle + 1;
        else high = middle;
      }
      return rows[low] === row ? low : -1;
    }

    labelOf(point) {
      return this.partition.labelOfCell[this.data.points.cell[point]];
    }

    pick(point) {
      if (point < 0) return;
      this.setPicked(
        this.picked.length === 1 && this.picked[0] !== point ? [...this.picked, point] : [point],
      );
    }

    setPicked(points) {
      this.picked = points;
      byId("path-from").value = points.length > 0 ? this.rowOf(points[0]) : "";
      byId("path-to").value = points.length > 1 ? this.rowOf(points[1]) : "";
      this.drawPath();
    }

    showPathOfRows(from, to) {
      const points = [from, to].map((row) => (Number.isInteger(row) ? this.pointOf(row) : -1));
      if (points.some((point) => point < 0)) {
        byId("path-text").textContent =
          this.data.points.row === null
            ? `Give two rows from 0 to ${this.data.nRows - 1}.`
            : "Give two rows that are shown; not all rows are.";
        return;
      }
      this.setPicked(points);
    }

    hover(point) {
      const tip = byId("tooltip");
      tip.hidden = point < 0;
      if (point < 0) return;
      const { hover, images, level } = this.data.points;
      const label = this.labelOf(point);
      const lines = [
        html(
          "div",
          {},
          html("b", {}, `row ${this.rowOf(point)}`),
          label < 0 ? " · noise" : ` · cluster ${label}`,
        ),
      ];
      for (const { name, texts } of hover)
        lines.push(html("div", {}, html("b", {}, name), ` ${texts[point]}`));
      if (images !== null && images[point] !== "")
        lines.push(html("img", { src: images[point], alt: "" }));
      lines.push(
        html(
          "div",
          { class: "faint" },
          `outlier score ${(level[point] / this.data.scoreSteps).toFixed(2)}`,
        ),
      );
      tip.replaceChildren(...lines);
      this.moveTooltip();
    }

    select(points) {
      this.selection = points;
      byId("selection-text").textContent =
        points.length === 0
          ? "Draw a lasso around points."
          : `${count(points.length, "row")} selected.`;
      byId("selection-download").disabled = points.length === 0;
      this.drawPoints();
    }

    // Downloads --------------------------------------------------------------------------------

    downloadLabels() {
      const labels = this.partition.labelsOfRows();
      const isAll = this.data.cells.ofRow !== null || this.data.points.row === null;
      const lines = ["row,cluster\n"];
      labels.forEach((label, i) => lines.push(`${isAll ? i : this.rowOf(i)},${label}\n`));
      Explorer.save("labels.csv", lines);
    }

    downloadSelection() {
      const { hover, axes, level } = this.data.points;
      const drawn = [...new Set(this.points.axes)].map((i) => axes[i]);
      const names = [...drawn, ...hover].map(({ name }) => name);
      const lines = [Explorer.csvLine(["row", "cluster", "outlier score", ...names])];
      for (const i of this.selection) {
        const values = [
          ...drawn.map(({ values: v }) => v[i]),
          ...hover.map(({ texts }) => texts[i]),
        ];
        lines.push(
          Explorer.csvLine([
            this.rowOf(i),
            this.labelOf(i),
            level[i] / this.data.scoreSteps,
            ...values,
          ]),
        );
      }
      Explorer.save("selection.csv", lines);
    }

    // Drawing ----------------------------------------------------------------------------------

    refresh() {
      if (this.colours === undefined || this.drawnDark !== this.isDark) this.drawTheme();
      this.drawPoints();
      this.drawNames();
      const node = this.highlight?.node ?? null;
      this.dendrogram.draw(this.partition, this.colours, node);
      const { k } = this.partition.state;
      this.evidence.draw(this.partition.isOwn ? -1 : k);
      this.table.draw(this.partition, this.colours, this.highlight?.label ?? null);
      this.drawBranch(node);
      this.drawNumber(k);
      this.drawOutliers();
    }

    drawTheme() {
      this.drawnDark = this.isDark;
      const used = [...this.data.nodeColours, ...this.data.coloursOf.flat()];
      const most = used.reduce((a, b) => Math.max(a, b), 0) + 1;
      this.colours = new Explorer.Colours(most, this.isDark);
      const style = getComputedStyle(document.documentElement);
      const [ink, faint, line, warn] = ["ink", "faint", "line", "warn"].map((name) =>
        style.getPropertyValue(`--${name}`).trim(),
      );
      this.points.drawTheme(ink, faint, line, warn);
    }

    // Paint each point by its cell; those that are not highlighted are faded.
    drawPoints() {
      const { cell, level } = this.data.points;
      const colourOfCell = this.partition.coloursOfCells();
      const isFaded = this.fadedCells();
      const paint = Uint8Array.from(colourOfCell, (colour, c) =>
        this.colours.paint(colour, isFaded[c]),
      );
      const grey = Uint8Array.from(isFaded, (faded) => this.colours.paint(-1, faded));
      const paints = new Uint8Array(cell.length);
      for (let i = 0; i < cell.length; i++) {
        paints[i] = level[i] >= this.threshold ? grey[cell[i]] : paint[cell[i]];
      }
      if (this.selection.length > 0) this.fadeUnselected(paints);
      this.points.draw(paints, this.colours);
    }

    fadeUnselected(paints) {
      const isSelected = new Uint8Array(paints.length);
      for (const i of this.selection) isSelected[i] = 1;
      const firstFaded = this.colours.count + 1;
      for (let i = 0; i < paints.length; i++) {
        if (!isSelected[i] && paints[i] < firstFaded) paints[i] += firstFaded;
      }
    }

    fadedCells() {
      const { part } = this.data.cells;
      const { tree, labelOfCell } = this.partition;
      if (this.highlight === null) return new Uint8Array(part.length);
      const { node, label } = this.highlight;
      return Uint8Array.from(part, (each, c) =>
        Number(
          node === undefined
            ? labelOfCell[c] !== label
            : !tree.isBelow(tree.leafOfPart[each], node),
        ),
      );
    }

    drawNames() {
      const { clusters, colours } = this.partition;
      this.points.drawNames(
        clusters
          .map((cluster, label) => ({
            point: this.pointOf(this.data.clusters.medoid[cluster]),
            text: String(label),
            colour: this.colours.of(colours[label]),
          }))
          .filter(({ point }) => point >= 0),
      );
    }

    drawPath() {
      const { parent, length } = this.data.points;
      this.path =
        this.picked.length === 2 ? Explorer.treePath(parent, length, ...this.picked) : null;
      this.points.drawPath(this.path, this.picked);
      const text = byId("path-text");
      if (this.path === null) {
        text.textContent =
          this.picked.length === 1 ? "Click a second point." : "Or click two points.";
        return;
      }
      const { points, widest, distance } = this.path;
      const [a, b] = [points[widest], points[widest + 1]].map((point) => this.rowOf(point));
      const hops = count(points.length - 1, "hop");
      const among = this.data.points.row === null ? "" : " over the points shown";
      text.textContent =
        `${hops}${among}. The longest, from row ${a} to row ${b}, decides: ` +
        `the transitive distance is ${shortNumber(distance)}.`;
    }

    drawBranch(node) {
      const position = node === null ? null : this.partition.positionOf(node);
      byId("unite").hidden = position !== "above";
      byId("separate").hidden = position !== "within";
      byId("clear").hidden = this.highlight === null;
      const isNested = this.dendrogram.isNested(this.partition);
      const about = isNested
        ? ""
        : " The clusters of K-means are no branches; colours are those of most rows, " +
          "and dividing begins with CUT's clusters.";
      byId("branch").textContent =
        node === null
          ? `Click a cluster's branch to divide just that one.${about}`
          : `Branch of ${count(this.data.clusters.rows[node], "row")} highlighted.`;
    }

    drawNumber(k) {
      const { numbers, evidence } = this.data;
      byId("k").value = Math.min(numbers.at(-1), Math.max(numbers[0], k));
      byId("k-value").textContent = this.partition.isOwn ? `${k} (your own cut)` : String(k);
      byId("undo").disabled = this.partition.history.length === 0;
      const reason = this.partition.isOwn
        ? "Your own cut of the dendrogram; the slider returns to CUT's."
        : evidence.reasons[numbers.indexOf(k)];
      byId("reason").textContent = reason;
      const isBest = !this.partition.isOwn && k === evidence.suggested;
      byId("verdict").textContent = isBest
        ? `★ suggested (${evidence.confidence})`
        : `★ ${evidence.suggested} suggested (${evidence.confidence})`;
      const sizes = this.partition.clusters.map((c) => this.data.clusters.rows[c]);
      byId("status").textContent = `${count(k, "cluster")} of ${sizes.join(", ")} rows.`;
    }

    drawOutliers() {
      const { scoreSteps, scoreHistogram, nRows } = this.data;
      const isOff = this.threshold > scoreSteps;
      const n = scoreHistogram.slice(this.threshold).reduce((a, b) => a + b, 0);
      byId("threshold-text").textContent = isOff
        ? "Move to grey out rows with high scores."
        : `${count(n, "row")} (${((100 * n) / nRows).toFixed(1)} %) with a score of at least ` +
          `${(this.threshold / scoreSteps).toFixed(3)} in grey.`;
      byId("threshold").setAttribute(
        "aria-valuetext",
        isOff ? "off" : (this.threshold / scoreSteps).toFixed(3),
      );
    }

    drawFacts() {
      const { nRows, points, method, evidence } = this.data;
      const shown =
        points.row === null
          ? ""
          : `, ${points.row.length.toLocaleString("en")} of them shown; all are counted`;
      byId("facts").textContent = `${count(nRows, "row")}${shown} · ${method}`;
      byId("suggestion").textContent = `★ ${evidence.explanation}`;
    }
  }

  const read = (id) => JSON.parse(byId(id).textContent);
  const app = new App(Explorer.decode(read("payload")));
  Explorer.app = app;
  Explorer.ready = app.start(read("figure")).then(() => {
    document.documentElement.dataset.ready = "yes";
  });
})();
