"use strict";
// Which clusters are on the screen: those for a number of clusters, or a cut of the user's own.
//
// Nodes of the dendrogram: 0 is everything; step j = 1, 2, … divides node divided[j - 1] into nodes
// 2j - 1 and 2j. A cut of the user's own is any set of nodes that hold each row once.

(() => {
  class PartTree {
    constructor(divided) {
      this.nParts = divided.length + 1;
      this.parent = [-1];
      this.children = [null];
      divided.forEach((node, i) => {
        this.children[node] = [2 * i + 1, 2 * i + 2];
        this.parent.push(node, node);
        this.children.push(null, null);
      });
      // The part that each leaf is: what is left keeps the number, what is cut off has its step's.
      const first = [0];
      divided.forEach((node, i) => first.push(first[node], i + 1));
      this.leafOfPart = [];
      this.children.forEach((pair, node) => {
        if (pair === null) this.leafOfPart[first[node]] = node;
      });
    }

    // Return the nodes for k clusters.
    nodesFor(k) {
      const nodes = new Set([0]);
      for (let step = 1; step < Math.min(k, this.nParts); step++) {
        nodes.delete(this.parent[2 * step]);
        nodes.add(2 * step - 1).add(2 * step);
      }
      return nodes;
    }

    isBelow(node, above) {
      while (node > above) node = this.parent[node];
      return node === above;
    }
  }

  class Partition {
    constructor(data) {
      this.data = data;
      this.tree = new PartTree(data.tree.divided);
      this.nCells = data.cells.part.length;
      // Cells that are noise, whatever the number of clusters.
      this.isNoise = Array.from(data.cells.part, (_, c) => data.labels.every((of) => of[c] < 0));
      this.history = [];
      this.state = { k: data.nClusters, own: null };
      this.update();
    }

    get isOwn() {
      return this.state.own !== null;
    }

    setNumber(k) {
      if (this.state.own === null && k === this.state.k) return;
      this.change({ k, own: null });
    }

    // Divide one of the clusters on the screen; false where it is none, or a leaf.
    divide(node) {
      const nodes = this.nodes();
      if (!nodes.has(node) || this.tree.children[node] === null) return false;
      nodes.delete(node);
      this.tree.children[node].forEach((child) => nodes.add(child));
      this.change({ k: nodes.size, own: nodes });
      return true;
    }

    // Make one cluster of a node that is divided.
    unite(node) {
      const nodes = [...this.nodes()].filter((each) => !this.tree.isBelow(each, node));
      this.change({ k: nodes.length + 1, own: new Set([...nodes, node]) });
    }

    // Make a cluster of a node within one: the cluster is divided along the way down to it.
    separate(node) {
      const nodes = this.nodes();
      let below = node;
      while (!nodes.has(below)) {
        const above = this.tree.parent[below];
        this.tree.children[above].forEach((child) => {
          if (child !== below) nodes.add(child);
        });
        below = above;
      }
      nodes.delete(below);
      this.change({ k: nodes.size + 1, own: nodes.add(node) });
    }

    undo() {
      if (this.history.length === 0) return;
      this.state = this.history.pop();
      this.update();
    }

    change(state) {
      this.history.push(this.state);
      this.state = state;
      this.update();
    }

    // The nodes on the screen; where clusters are no nodes, those of CUT for as many.
    nodes() {
      return new Set(this.state.own ?? this.tree.nodesFor(this.state.k));
    }

    // Whether a node is a cluster on the screen, above the clusters, or within one.
    positionOf(node) {
      const nodes = this.nodes();
      if (nodes.has(node)) return "cluster";
      return [...nodes].some((each) => this.tree.isBelow(each, node)) ? "above" : "within";
    }

    update() {
      const { data, state } = this;
      if (state.own === null) {
        const i = data.numbers.indexOf(state.k);
        this.labelOfCell = data.labels[i];
        this.clusters = data.clustersOf[i];
        this.colours = data.coloursOf[i];
        return;
      }
      const rows = data.clusters.rows;
      this.clusters = [...state.own].sort((a, b) => rows[b] - rows[a] || a - b);
      this.colours = this.clusters.map((node) => data.nodeColours[node]);
      const labelOfPart = this.tree.leafOfPart.map((leaf) => {
        let node = leaf;
        while (!state.own.has(node)) node = this.tree.parent[node];
        return this.clusters.indexOf(node);
      });
      this.labelOfCell = Int32Array.from(data.cells.part, (part, c) =>
        this.isNoise[c] ? -1 : labelOfPart[part],
      );
    }

    // The colour of each cell; -1 for rows in no cluster.
    coloursOfCells() {
      return Int32Array.from(this.labelOfCell, (l) => (l < 0 ? -1 : this.colours[l]));
    }

    // The number of rows in no cluster.
    nNoise() {
      const { rows } = this.data.cells;
      return this.labelOfCell.reduce((sum, label, c) => (label < 0 ? sum + rows[c] : sum), 0);
    }

    // Labels of all rows, or of those that are drawn where the page does not hold the others.
    labelsOfRows() {
      const cells = this.data.cells.ofRow ?? this.data.points.cell;
      return Int32Array.from(cells, (cell) => this.labelOfCell[cell]);
    }
  }

  Explorer.PartTree = PartTree;
  Explorer.Partition = Partition;
})();
