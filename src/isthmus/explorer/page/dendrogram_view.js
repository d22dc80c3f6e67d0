"use strict";
// The dendrogram: a button for each branch, which arrow keys lead to.

(() => {
  const { svg } = Explorer;
  const [HEIGHT, TOP, BOTTOM, LEFT] = [250, 14, 20, 8];

  class DendrogramView {
    // onClick: called with the node of a branch
    constructor(data, tree, target, onClick) {
      [this.data, this.tree, this.target, this.onClick] = [data, tree, target, onClick];
      this.current = 0; // the branch that the keyboard is at
      this.placeNodes();
    }

    // Heights by the logarithm of scores; leaves from left to right, larger branches first.
    placeNodes() {
      const { scores } = this.data.tree;
      const finite = [...scores].filter((s) => s > 0 && Number.isFinite(s));
      const [low, high] = [
        Math.log(Math.min(...finite, 1e300)),
        Math.log(Math.max(...finite, 1e-300)),
      ];
      const span = Math.max(high - low, 1e-9);
      this.heightOf = (score) => {
        if (!(score > 0)) return 0.04;
        if (!Number.isFinite(score)) return 1;
        return 0.08 + (0.86 * (Math.log(score) - low)) / span;
      };
      const n = this.tree.children.length;
      this.stepOf = new Array(n).fill(-1);
      this.data.tree.divided.forEach((node, i) => {
        this.stepOf[node] = i;
      });
      this.top = Array.from({ length: n }, (_, v) =>
        this.stepOf[v] < 0 ? 0 : this.heightOf(scores[this.stepOf[v]]),
      );
      this.x = new Array(n).fill(0);
      const { rows } = this.data.clusters;
      const leaves = [];
      const stack = [0];
      while (stack.length > 0) {
        const node = stack.pop();
        const pair = this.tree.children[node];
        if (pair === null) leaves.push(node);
        else stack.push(...[...pair].sort((a, b) => rows[a] - rows[b] || b - a));
      }
      this.order = leaves;
    }

    // Spread the leaves over a width.
    spread(width) {
      this.width = width;
      const n = this.tree.children.length;
      const room = (width - 2 * LEFT) / this.order.length;
      this.order.forEach((leaf, i) => {
        this.x[leaf] = LEFT + (i + 0.5) * room;
      });
      for (let v = n - 1; v >= 0; v--) {
        const pair = this.tree.children[v];
        if (pair !== null) this.x[v] = (this.x[pair[0]] + this.x[pair[1]]) / 2;
      }
    }

    y(height) {
      return TOP + (1 - height) * (HEIGHT - TOP - BOTTOM);
    }

    // partition: what is on the screen; picked: a node, or null
    draw(partition, colours, picked) {
      const hadFocus = this.target.contains(document.activeElement);
      this.spread(Math.max(280, this.target.clientWidth));
      const nodes = partition.nodes();
      const colourOf = this.coloursOfNodes(partition, colours, nodes);
      const branches = this.tree.children.map((_, node) =>
        this.branch(node, colourOf, nodes, picked),
      );
      const badges =
        partition.isOwn || this.isNested(partition) ? this.badges(partition, colours) : [];
      this.target.replaceChildren(
        svg(
          "svg",
          {
            viewBox: `0 0 ${this.width} ${HEIGHT}`,
            role: "group",
            "aria-label": "Dendrogram of the clusters",
          },
          ...branches,
          ...this.cutLine(partition),
          ...badges,
        ),
      );
      this.buttons = branches;
      if (hadFocus) branches[this.current].focus();
    }

    isNested(partition) {
      const nodes = partition.nodes();
      return partition.clusters.every((cluster) => nodes.has(cluster));
    }

    // Branches within a cluster have its colour; where clusters are no nodes, that of most rows.
    coloursOfNodes(partition, colours, nodes) {
      const n = this.tree.children.length;
      const { part, rows } = this.data.cells;
      const counts = Array.from({ length: n }, () => new Map());
      part.forEach((each, cell) => {
        const colour =
          partition.labelOfCell[cell] < 0 ? -1 : partition.colours[partition.labelOfCell[cell]];
        for (let v = this.tree.leafOfPart[each]; v >= 0; v = this.tree.parent[v]) {
          counts[v].set(colour, (counts[v].get(colour) ?? 0) + rows[cell]);
        }
      });
      return counts.map((count, v) => {
        let above = v;
        while (above > 0 && !nodes.has(above)) above = this.tree.parent[above];
        if (!nodes.has(above)) return null;
        const [colour] = [...count].reduce((a, b) => (b[1] > a[1] ? b : a));
        return colours.of(colour);
      });
    }

    branch(node, colourOf, nodes, picked) {
      const { rows } = this.data.clusters;
      const above = this.tree.parent[node];
      const begin = above < 0 ? 1 : this.top[above];
      const [x, y0, y1] = [this.x[node], this.y(begin), this.y(this.top[node])];
      let path = `M${x},${y0}V${y1}`;
      const pair = this.tree.children[node];
      if (pair !== null) path += `M${this.x[pair[0]]},${y1}H${this.x[pair[1]]}`;
      const width = 1.2 + 4.5 * Math.sqrt(rows[node] / this.data.nRows);
      const faded = picked !== null && !this.tree.isBelow(node, picked);
      const mark = svg("path", {
        d: path,
        class: "mark",
        "stroke-width": width,
        style: `stroke: ${colourOf[node] ?? "var(--faint)"}`,
        opacity: faded ? 0.35 : 1,
      });
      const what = nodes.has(node) ? "Cluster" : "Branch";
      const step = this.stepOf[node];
      const gap =
        step < 0
          ? "cannot be divided here"
          : `divides at a gap of ${Explorer.shortNumber(this.data.tree.lengths[step])}`;
      const label = `${what} of ${Explorer.count(rows[node], "row")}, ${gap}`;
      const group = svg(
        "g",
        {
          class: "branch",
          role: "button",
          "data-node": node,
          "aria-label": label,
          tabindex: node === this.current ? 0 : -1,
        },
        svg("title", {}, label),
        svg("path", { d: path, class: "hit" }),
        mark,
      );
      group.addEventListener("click", () => {
        this.current = node;
        this.onClick(node);
      });
      group.addEventListener("keydown", (event) => this.key(event, node));
      return group;
    }

    key(event, node) {
      const pair = this.tree.children[node];
      const above = this.tree.parent[node];
      const siblings = above < 0 ? [] : this.tree.children[above];
      const other = siblings.find((each) => each !== node);
      const goal = {
        ArrowUp: above < 0 ? undefined : above,
        ArrowDown: pair?.[0],
        ArrowLeft: other,
        ArrowRight: other,
      }[event.key];
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.current = node;
        this.onClick(node);
      } else if (goal !== undefined) {
        event.preventDefault();
        this.buttons[this.current].setAttribute("tabindex", -1);
        this.current = goal;
        this.buttons[goal].setAttribute("tabindex", 0);
        this.buttons[goal].focus();
      }
    }

    // A line at the cut, between the last score that is cut and the next one.
    cutLine(partition) {
      if (partition.isOwn) return [];
      const { k } = partition.state;
      const { scores } = this.data.tree;
      const above = k >= 2 && k - 2 < scores.length ? this.heightOf(scores[k - 2]) : 1;
      const below = k - 1 < scores.length ? this.heightOf(scores[k - 1]) : 0;
      const y = this.y((above + below) / 2);
      const line = svg("line", { x1: 0, x2: this.width, y1: y, y2: y, class: "cut-line" });
      return [
        line,
        svg("text", { x: this.width, y: y - 4, "text-anchor": "end", class: "strong" }, `k = ${k}`),
      ];
    }

    // The number of each cluster, at the top of its branch.
    badges(partition, colours) {
      return partition.clusters.flatMap((node, label) => {
        const above = this.tree.parent[node];
        const y = Math.min(this.y(above < 0 ? 1 : this.top[above]) + 9, this.y(this.top[node]));
        const colour = colours.of(partition.colours[label]);
        const style = `fill: ${Explorer.Colours.inkOn(colour)}`;
        return [
          svg("circle", { cx: this.x[node], cy: y, r: 8, fill: colour, "pointer-events": "none" }),
          svg("text", { x: this.x[node], y, class: "badge", style }, String(label)),
        ];
      });
    }
  }

  Explorer.DendrogramView = DendrogramView;
})();
