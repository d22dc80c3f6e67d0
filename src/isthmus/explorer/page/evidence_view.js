"use strict";
// Evidence for each number of clusters: three small charts above one axis.

(() => {
  const { svg } = Explorer;
  const [CHART, GAP, LEFT, TOP] = [54, 16, 84, 16];

  class EvidenceView {
    // onPick: called with a number of clusters
    constructor(data, target, onPick) {
      [this.data, this.target, this.onPick] = [data, target, onPick];
      const { evidence } = data;
      this.charts = [
        { name: "CUT score", values: evidence.cutScore, isLog: true },
        { name: "gap strength", values: evidence.gapStrength, mark: evidence.clearFrom },
        { name: "silhouette", values: evidence.silhouette },
      ];
    }

    x(i) {
      return LEFT + ((i + 0.5) * (this.width - LEFT)) / this.data.numbers.length;
    }

    draw(k) {
      this.width = Math.max(280, this.target.clientWidth);
      const { numbers, evidence } = this.data;
      const height = TOP + this.charts.length * (CHART + GAP) + 6;
      const room = (this.width - LEFT) / numbers.length;
      const parts = [];
      const now = numbers.indexOf(k);
      const band = { y: TOP - 4, height: height - TOP - 14, width: room };
      if (now >= 0) parts.push(svg("rect", { x: this.x(now) - room / 2, class: "now", ...band }));
      this.charts.forEach((chart, c) =>
        parts.push(...this.chart(chart, TOP + c * (CHART + GAP), now)),
      );
      numbers.forEach((number, i) => {
        const isShown =
          room >= 16 || number % (room >= 8 ? 2 : 5) === 0 || number === 1 || i === now;
        const strong = i === now ? "strong" : null;
        if (isShown) {
          parts.push(
            svg(
              "text",
              { x: this.x(i), y: height - 4, "text-anchor": "middle", class: strong },
              String(number),
            ),
          );
        }
        if (number === evidence.suggested) {
          parts.push(svg("text", { x: this.x(i), y: TOP - 5, class: "star" }, "★"));
        }
        const column = svg("rect", { x: this.x(i) - room / 2, class: "column", ...band });
        column.append(svg("title", {}, this.described(i)));
        column.addEventListener("click", () => this.onPick(number));
        parts.push(column);
      });
      parts.push(svg("text", { x: 0, y: height - 4 }, "clusters"));
      this.target.replaceChildren(
        svg(
          "svg",
          {
            viewBox: `0 0 ${this.width} ${height}`,
            role: "img",
            "aria-label": `Evidence for each number of clusters. ${now >= 0 ? this.described(now) : ""}`,
          },
          ...parts,
        ),
      );
    }

    described(i) {
      const figures = this.charts.map(
        ({ name, values }) => `${name} ${Explorer.shortNumber(values[i], 3)}`,
      );
      return `k = ${this.data.numbers[i]}: ${figures.join(", ")}`;
    }

    chart({ name, values, isLog, mark }, top, now) {
      const scaled = Array.from(values, (v) => (isLog ? Math.log(v) : v));
      const shown = scaled.filter(Number.isFinite);
      if (mark !== undefined && Number.isFinite(mark) && shown.length > 0) {
        if (mark < 1.5 * Math.max(...shown)) shown.push(mark);
      }
      const [low, high] = [Math.min(...shown, Infinity), Math.max(...shown, -Infinity)];
      const y = (v) => top + CHART * (1 - (high > low ? (v - low) / (high - low) : 0.5));
      const parts = [
        svg("line", {
          x1: LEFT,
          x2: this.width,
          y1: top + CHART + 3,
          y2: top + CHART + 3,
          class: "grid",
        }),
        svg("text", { x: 0, y: top + 12, class: "strong" }, name),
      ];
      if (now >= 0) {
        parts.push(svg("text", { x: 0, y: top + 28 }, Explorer.shortNumber(values[now], 3)));
      }
      if (mark !== undefined && mark >= low && mark <= high) {
        parts.push(
          svg("line", { x1: LEFT, x2: this.width, y1: y(mark), y2: y(mark), class: "cut-line" }),
        );
        parts.push(
          svg("text", { x: this.width, y: y(mark) - 3, "text-anchor": "end" }, "clear above"),
        );
      }
      let path = "";
      scaled.forEach((v, i) => {
        if (!Number.isFinite(v)) return;
        path += `${path === "" || !Number.isFinite(scaled[i - 1]) ? "M" : "L"}${this.x(i)},${y(v)}`;
      });
      parts.push(svg("path", { d: path, class: "series" }));
      scaled.forEach((v, i) => {
        if (!Number.isFinite(v)) return;
        const isNow = i === now;
        parts.push(
          svg("circle", {
            cx: this.x(i),
            cy: y(v),
            r: isNow ? 4.5 : 2.6,
            class: isNow ? "dot is-now" : "dot",
          }),
        );
      });
      return parts;
    }
  }

  Explorer.EvidenceView = EvidenceView;
})();
