"use strict";
// The table of the clusters on the screen.

(() => {
  const { html, shortNumber } = Explorer;

  function percent(share) {
    return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
  }

  function difference([name, category, effect, inside, outside]) {
    if (category !== null)
      return `${name} = ${category} ${percent(inside)} (rest ${percent(outside)})`;
    return `${name} ${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(1)} σ`;
  }

  const COLUMNS = [
    { name: "cluster", value: (row) => row.label },
    { name: "rows", value: (row) => row.rows, text: (row) => row.rows.toLocaleString("en") },
    { name: "share", value: (row) => row.share, text: (row) => percent(row.share), isBar: true },
    { name: "medoid", value: (row) => row.medoid, text: (row) => `row ${row.medoid}` },
    {
      name: "widest gap",
      value: (row) => row.widestGap,
      text: (row) => shortNumber(row.widestGap),
    },
    {
      name: "distance to next",
      value: (row) => row.distance,
      text: (row) => (row.next < 0 ? "–" : `${shortNumber(row.distance)} to ${row.next}`),
    },
    {
      name: "outlier score",
      value: (row) => row.score,
      text: (row) => (Number.isNaN(row.score) ? "–" : row.score.toFixed(2)),
    },
    {
      name: "differs most in",
      value: (row) => (row.differences.length > 0 ? Math.abs(row.differences[0][2]) : 0),
      text: (row) => row.differences.map(difference).join(" · ") || "–",
    },
  ];

  class TableView {
    // onClick: called with a label
    constructor(data, table, onClick) {
      [this.data, this.onClick] = [data, onClick];
      this.sort = { column: 0, down: false };
      this.body = table.querySelector("tbody");
      this.heads = COLUMNS.map(({ name }, c) => {
        const button = html("button", { type: "button" }, name);
        button.addEventListener("click", () => this.sortBy(c));
        return html("th", { scope: "col" }, button);
      });
      table.querySelector("thead").append(html("tr", {}, ...this.heads));
    }

    sortBy(column) {
      const down = this.sort.column === column ? !this.sort.down : column > 0;
      this.sort = { column, down };
      this.draw(...this.last);
    }

    rowOf(partition, label) {
      const { clusters } = this.data;
      const c = partition.clusters[label];
      const figures = Object.fromEntries(
        ["rows", "share", "medoid", "widestGap", "distance", "score", "differences"].map((name) => [
          name,
          clusters[name][c],
        ]),
      );
      const next = clusters.nextCell[c];
      return { label, ...figures, next: next < 0 ? -1 : partition.labelOfCell[next] };
    }

    draw(partition, colours, picked) {
      this.last = [partition, colours, picked];
      const { value } = COLUMNS[this.sort.column];
      const sign = this.sort.down ? -1 : 1;
      const rows = partition.clusters.map((_, label) => this.rowOf(partition, label));
      this.largest = rows.reduce((most, row) => Math.max(most, row.share), 0);
      rows.sort((a, b) => sign * (value(a) - value(b)) || a.label - b.label);
      this.heads.forEach((head, c) => {
        const order = this.sort.down ? "descending" : "ascending";
        head.setAttribute("aria-sort", c === this.sort.column ? order : "none");
      });
      this.body.replaceChildren(
        ...rows.map((row) => {
          const colour = colours.of(partition.colours[row.label]);
          const line = html(
            "tr",
            { "data-label": row.label, class: row.label === picked ? "is-picked" : null },
            ...COLUMNS.map((column, c) =>
              c === 0 ? this.name(row, colour, picked) : this.cell(column, row, colour),
            ),
          );
          line.addEventListener("click", () => this.onClick(row.label));
          return line;
        }),
        ...this.noise(partition, colours),
      );
    }

    // The last line, where rows are in no cluster.
    noise(partition, colours) {
      const rows = partition.nNoise();
      if (rows === 0) return [];
      const swatch = html("span", { class: "swatch", style: `background: ${colours.of(-1)}` });
      const texts = [rows.toLocaleString("en"), percent(this.data.clusters.noiseShare)];
      const cells = COLUMNS.slice(1).map((_, c) => html("td", {}, texts[c] ?? "–"));
      return [html("tr", { class: "noise" }, html("td", {}, swatch, "noise"), ...cells)];
    }

    name(row, colour, picked) {
      const swatch = html("span", { class: "swatch", style: `background: ${colour}` });
      const button = html(
        "button",
        {
          type: "button",
          class: "name",
          "aria-pressed": String(row.label === picked),
          "aria-label": `Highlight cluster ${row.label}`,
        },
        String(row.label),
      );
      return html("td", {}, swatch, button);
    }

    cell({ text, isBar }, row, colour) {
      const cell = html("td", {}, text(row));
      if (isBar) {
        const width = Math.max(2, (56 * row.share) / this.largest);
        const bar = html("span", {
          class: "bar",
          style: `width: ${width}px; background: ${colour}`,
        });
        cell.append(html("span", { class: "bar-room" }, bar));
      }
      return cell;
    }
  }

  Explorer.TableView = TableView;
})();
