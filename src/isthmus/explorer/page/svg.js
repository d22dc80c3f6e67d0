"use strict";
// Elements, with their text as text: nothing of the data is ever parsed as markup.

(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  Explorer.svg = (name, attributes = {}, ...children) =>
    filled(document.createElementNS(SVG, name), attributes, children);
  Explorer.html = (name, attributes = {}, ...children) =>
    filled(document.createElement(name), attributes, children);
  Explorer.byId = (id) => document.getElementById(id);
})();
