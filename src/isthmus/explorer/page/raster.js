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

  function channelsOf(colour) {
    const hex = colour.slice(1).padEnd(8, "f");
    return [0, 2, 4, 6].map((i) => parseInt(hex.slice(i, i + 2), 16));
  }

  // Lay a colour over the pixel at byte p; alpha from 0 to 255.
  function blend(bytes, p, red, green, blue, alpha) {
    const below = (bytes[p + 3] * (255 - alpha)) / 255;
    const total = alpha + below;
    bytes[p] = (red * alpha + bytes[p] * below) / total;
    bytes[p + 1] = (green * alpha + bytes[p + 1] * below) / total;
    bytes[p + 2] = (blue * alpha + bytes[p + 2] * below) / total;
    bytes[p + 3] = total;
  }

  // Draw discs into an image of width × height pixels, its lowest line first.
  //
  // view: { x0, x1, y0, y1 }, the ranges that the image shows
  // paints: an index into the palette for each point; from firstFaded on colours are faded, and
  //   those points lie below the others
  Explorer.drawDiscs = function drawDiscs(image, { x, y, paints, palette, firstFaded, diameter }, view) {
    const { bytes, width, height } = image;
    const { side, coverage } = discCoverage(diameter);
    const [scaleX, scaleY] = [width / (view.x1 - view.x0), height / (view.y1 - view.y0)];
    const colours = palette.map(channelsOf);
    for (const isFaded of [true, false]) {
      for (let i = 0; i < x.length; i++) {
        if (paints[i] >= firstFaded !== isFaded) continue;
        const left = Math.round((x[i] - view.x0) * scaleX - side / 2);
        const low = Math.round((y[i] - view.y0) * scaleY - side / 2);
        // written so that NaN, the place of a missing value, is left out
        if (!(left > -side && left < width && low > -side && low < height)) continue;
        const [red, green, blue, alpha] = colours[paints[i]];
        const [from, to] = [Math.max(0, -left), Math.min(side, width - left)];
        for (let v = Math.max(0, -low); v < Math.min(side, height - low); v++) {
          let p = 4 * ((low + v) * width + left + from);
          for (let u = from; u < to; u++, p += 4) {
            const covered = coverage[v * side + u];
            if (covered === 0) continue;
            const visible = (covered * alpha) / 255;
            if (visible > 254) {
              bytes[p] = red;
              bytes[p + 1] = green;
              bytes[p + 2] = blue;
              bytes[p + 3] = 255;
            } else {
              blend(bytes, p, red, green, blue, visible);
            }
          }
        }
      }
    }
  };
})();
