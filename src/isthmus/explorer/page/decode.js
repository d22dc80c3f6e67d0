"use strict";
// The page's data: JSON in which arrays are the base64 of their bytes.
const Explorer = {};

(() => {
  const TYPES = {
    u1: Uint8Array,
    u2: Uint16Array,
    i4: Int32Array,
    f4: Float32Array,
    f8: Float64Array,
  };

  function unpack({ type, data }) {
    const text = atob(data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[type](bytes.buffer);
  }

  // Return the data with every packed array as a typed array.
  Explorer.decode = function decode(value) {
    if (Array.isArray(value)) return value.map(decode);
    if (value === null || typeof value !== "object") return value;
    if (typeof value.type === "string" && typeof value.data === "string") return unpack(value);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, decode(each)]));
  };

  // Numbers for people: four digits, and the sign of infinity.
  Explorer.shortNumber = function shortNumber(value, digits = 4) {
    if (Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(2);
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  };

  Explorer.count = function count(n, noun) {
    return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  };
})();
