"use strict";
// Points → pixels. A hundred thousand of them take some milliseconds, with or without a graphics card.

(() => {
  // How much of each pixel of a small square a disc covers, from 0 to 255.
  function discCoverage(diameter) {
    const side = Math.ceil(diameter) + 1;
    const middle = (side - 1) / 2;
    return {
      side,
      coverage: Uint8Array.from({ length: side * side }, (_, p) => {
        const distance = Math.hypot((p % side) - middle, Math.floor(p / side) - middle);
        return Math.round(255 * Math.min(1, Math.max(0, diameter / 2 + 0.5 - distance)));
      }),
    };
  }

  // A colour by its channels, and as the word that an opaque pixel of it is in memory.
  function channelsOf(colour) {
    const hex = colour.slice(1).padEnd(8, "f");
    const [red, green, blue, alpha] = [0, 2, 4, 6].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const [word] = new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer);
    return { red, green, blue, alpha, word: alpha === 255 ? word : -1 };
  }

  // Lay a colour over the pixel at byte p; alpha from 0 to 255.
  function blend(bytes, p, red, green, blue, alpha) {
    const below = bytes[p + 3];
    if (below === 0) {
      bytes[p] = red;
      bytes[p + 1] = green;
      bytes[p + 2] = blue;
      bytes[p + 3] = alpha;
      return;
    }
    const share =
      below === 255 ? alpha / 255 : (255 * alpha) / (255 * alpha + below * (255 - alpha));
    bytes[p] += (red - bytes[p]) * share;
    bytes[p + 1] += (green - bytes[p + 1]) * share;
    bytes[p + 2] += (blue - bytes[p + 2]) * share;
    bytes[p + 3] = alpha + (below * (255 - alpha)) / 255;
  }

  // Draw one disc; the part of it that is outside the image is left out.
  function drawDisc({ bytes, words, width, height }, { side, coverage }, left, low, colour) {
    const { red, green, blue, alpha, word } = colour;
    const first = left < 0 ? -left : 0;
    const last = left + side > width ? width - left : side;
    const stop = low + side > height ? height - low : side;
    for (let v = low < 0 ? -low : 0; v < stop; v++) {
      let p = (low + v) * width + left + first;
      for (let u = first; u < last; u++, p++) {
        const covered = coverage[v * side + u];
        // most neighbours have one colour, which no blending changes
        if (covered === 0 || words[p] === word) continue;
        if (covered === 255 && alpha === 255) words[p] = word;
        else blend(bytes, 4 * p, red, green, blue, (covered * alpha) / 255);
      }
    }
  }

  // Draw discs into an image of width × height pixels, its lowest line first.
  //
  // view: { x0, x1, y0, y1 }, the ranges that the image shows
  // paints: an index into the palette for each point; from firstFaded on colours are faded, and
  //   those points lie below the others
  Explorer.drawDiscs = function drawDiscs(
    image,
    { x, y, paints, palette, firstFaded, diameter },
    view,
  ) {
    const { width, height } = image;
    const disc = discCoverage(diameter);
    const { side } = disc;
    const [scaleX, scaleY] = [width / (view.x1 - view.x0), height / (view.y1 - view.y0)];
    const colours = palette.map(channelsOf);
    for (const isFaded of [true, false]) {
      for (let i = 0; i < x.length; i++) {
        if (paints[i] >= firstFaded !== isFaded) continue;
        const left = Math.round((x[i] - view.x0) * scaleX - side / 2);
        const low = Math.round((y[i] - view.y0) * scaleY - side / 2);
        // written so that NaN, the place of a missing value, is left out
        if (left > -side && left < width && low > -side && low < height) {
          drawDisc(image, disc, left, low, colours[paints[i]]);
        }
      }
    }
  };
})();
