"use strict";
// Colours of clusters: the palette of Okabe and Ito, then a muted one of Tol's, both made for
// colour-blind readers; then lighter and darker ones. Numbers beside the points say the same.

(() => {
  const BASE = [
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#b8a90f",
    "#000000",
  ];
  const MUTED = [
    "#882255",
    "#44aa99",
    "#cc6677",
    "#332288",
    "#999933",
    "#aa4499",
    "#117733",
    "#ddaa77",
  ];
  const GREY = "#9aa3ad";
  const FADED = "2e";
  const DARK_INK = "#f2f4f7";

  function channels(colour) {
    return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  }

  function mixed(colour, other, share) {
    const [a, b] = [channels(colour), channels(other)];
    const mix = a.map((each, i) => Math.round(each * (1 - share) + b[i] * share));
    return `#${mix.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
  }

  class Colours {
    // count: how many colours clusters may have
    constructor(count, isDark) {
      const muted = isDark ? MUTED.map((each) => mixed(each, "#ffffff", 0.3)) : MUTED;
      const base = [...BASE.slice(0, 7), isDark ? DARK_INK : BASE[7], ...muted];
      this.solid = Array.from({ length: count }, (_, i) => {
        const colour = base[i % base.length];
        const turn = Math.floor(i / base.length) % 5;
        if (turn === 0) return colour;
        return mixed(colour, turn % 2 ? "#ffffff" : "#202020", turn < 3 ? 0.45 : 0.68);
      });
      this.grey = GREY;
      this.count = count;
      // What a point is painted with: a colour or grey, then the same faded.
      this.palette = [...this.solid, GREY];
      this.palette.push(...this.palette.map((colour) => colour + FADED));
    }

    of(colour) {
      return colour < 0 ? this.grey : this.solid[colour];
    }

    // The index into the palette.
    paint(colour, isFaded) {
      return (colour < 0 ? this.count : colour) + (isFaded ? this.count + 1 : 0);
    }

    // Black or white, whichever can be read on a colour.
    static inkOn(colour) {
      const [r, g, b] = channels(colour);
      return 0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#000000" : "#ffffff";
    }
  }

  Explorer.Colours = Colours;
})();
