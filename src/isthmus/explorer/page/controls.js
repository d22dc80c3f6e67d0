"use strict";
// The slider for k, outliers, paths and downloads: what people do, as calls of one object.

(() => {
  const { byId, html } = Explorer;

  // app: see main.js
  Explorer.connectControls = function connectControls(app) {
    connectSlider(app);
    connectAxes(app);
    connectPaths(app);
    byId("undo").addEventListener("click", () => app.undo());
    byId("download").addEventListener("click", () => app.downloadLabels());
    byId("selection-download").addEventListener("click", () => app.downloadSelection());
    byId("unite").addEventListener("click", () => app.unite());
    byId("separate").addEventListener("click", () => app.separate());
    byId("clear").addEventListener("click", () => app.showAll());
    byId("theme").addEventListener("click", () => app.switchTheme());
    const threshold = byId("threshold");
    Object.assign(threshold, { min: 0, max: app.data.scoreSteps + 1, step: 1 });
    threshold.value = app.data.scoreSteps + 1;
    threshold.addEventListener("input", () => app.setThreshold(Number(threshold.value)));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") app.showAll();
      if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) app.undo();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.refresh());
  };

  function connectSlider(app) {
    const slider = byId("k");
    const { numbers } = app.data;
    Object.assign(slider, { min: numbers[0], max: numbers.at(-1) });
    slider.addEventListener("input", () => app.setNumber(Number(slider.value)));
    const step = (change) =>
      app.setNumber(Math.min(numbers.at(-1), Math.max(numbers[0], app.partition.state.k + change)));
    byId("fewer").addEventListener("click", () => step(-1));
    byId("more").addEventListener("click", () => step(1));
    const { suggested } = app.data.evidence;
    const mark = byId("suggested-mark");
    mark.hidden = !numbers.includes(suggested) || numbers.length < 2;
    const share = (suggested - numbers[0]) / Math.max(1, numbers.length - 1);
    mark.style.left = `calc(8px + ${share} * (100% - 16px))`;
    slider.disabled = numbers.length < 2;
  }

  function connectAxes(app) {
    const selects = [byId("x-axis"), byId("y-axis")];
    selects.forEach((select, which) => {
      app.data.points.axes.forEach(({ name }, i) =>
        select.append(html("option", { value: i }, name)),
      );
      select.value = String(which);
      select.addEventListener("change", () =>
        app.setAxes(...selects.map((each) => Number(each.value))),
      );
    });
  }

  function connectPaths(app) {
    byId("path-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const rows = [byId("path-from").value, byId("path-to").value];
      app.showPathOfRows(...rows.map((text) => (text.trim() === "" ? NaN : Number(text))));
    });
    byId("path-clear").addEventListener("click", () => app.setPicked([]));
    let pointer = null;
    // on its way down: Bokeh lets no event through
    document.addEventListener(
      "pointermove",
      (event) => {
        pointer = event;
      },
      { capture: true },
    );
    app.moveTooltip = () => {
      const tip = byId("tooltip");
      if (pointer === null || tip.hidden) return;
      const { offsetWidth: width, offsetHeight: height } = tip;
      const left = Math.min(pointer.clientX + 14, innerWidth - width - 8);
      const top =
        pointer.clientY + 18 + height > innerHeight
          ? pointer.clientY - height - 12
          : pointer.clientY + 18;
      tip.style.left = `${Math.max(4, left)}px`;
      tip.style.top = `${Math.max(4, top)}px`;
    };
  }
})();
