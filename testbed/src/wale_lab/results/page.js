// SPDX-License-Identifier: GPL-2.0
// The charts of the page of a run: unpacks the data, stacks the panels that are shown, and draws
// them as wide as the page, on light or dark paper.
"use strict";

(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const place = document.getElementById("charts");
  const shown = new Set(content.panels.filter((p) => p.shown).map((p) => p.key));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let isDark = dark.matches;
  const hidden = new Set();
  const least = 1e-5; // seconds that are shown
  let view = null;
  let width = 0;
  let range = [0, content.end];

  /* The rows of one kind of curve: times are differences, ns; so are values that are bytes. */
  function rows(kind, scale) {
    const found = [];
    const notes = kind.notes || [];
    let skipped = 0;
    for (const [line, curve] of kind.curves.entries()) {
      if (hidden.has(curve.of)) {
        if (notes.length) skipped += curve.t.length;
        continue;
      }
      let time = 0, value = 0;
      const values = curve.d || curve.y;
      for (let n = 0; n < values.length; n++) {
        time += curve.t[n];
        value = curve.d ? value + values[n] : values[n];
        const row = {t: time / 1e9, y: curve.d ? value / scale : value, of: curve.of, line};
        if (notes.length) row.note = notes[skipped + found.length];
        found.push(row);
      }
    }
    return found;
  }

  function datasets() {
    const all = {};
    for (const key of shown)
      for (const [kind, curves] of Object.entries(content.data[key]))
        all[`${key}_${kind}`] = rows(curves, content.scale[key] || 1);
    return all;
  }

  function looks() {
    const ink = isDark ? "#e4e8ec" : "#1b1f24", soft = isDark ? "#9aa5b1" : "#57606a";
    const rule = isDark ? "#2b323b" : "#e6e8eb";
    return {
      background: null,
      font: "system-ui, -apple-system, Segoe UI, Noto Sans, DejaVu Sans, sans-serif",
      view: {stroke: null},
      range: {category: content.colours[isDark ? "dark" : "light"]},
      axis: {labelColor: soft, titleColor: soft, gridColor: rule, domainColor: rule,
             tickColor: rule, titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 11},
      title: {color: ink},
    };
  }

  async function draw() {
    width = Math.max(place.clientWidth - 82, 200);
    const charts = content.charts.filter((chart) => shown.has(chart.name));
    document.documentElement.classList.toggle("dark", isDark);
    drawLegend();
    if (view) view.finalize();
    view = null;
    place.replaceChildren();
    if (!charts.length) return;
    const spec = {
      $schema: "https://vega.github.io/schema/vega-lite/v6.json",
      params: [{name: "from", value: range[0]}, {name: "to", value: range[1]}],
      vconcat: charts.map((chart) => ({...chart, width})),
      datasets: datasets(),
      config: {...looks(), concat: {spacing: 14}},
    };
    view = (await vegaEmbed(place, spec, {actions: false, renderer: "canvas"})).view;
    place.dataset.drawn = charts.length;
  }

  /* Names with their lines; a click hides or shows one, a double click shows it alone. */
  function drawLegend() {
    const legend = document.getElementById("legend");
    const colours = content.colours[isDark ? "dark" : "light"];
    legend.replaceChildren(...content.series.map(({name, dash}, n) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", !hidden.has(name));
      button.innerHTML = `<svg width="30" height="8" aria-hidden="true"><line x1="1" x2="29" y1="4" y2="4"
        stroke="${colours[n % colours.length]}" stroke-width="2.5" stroke-dasharray="${dash}"/></svg>`;
      button.append(" ", name);
      button.addEventListener("click", () => {
        if (!hidden.delete(name)) hidden.add(name);
        draw();
      });
      button.addEventListener("dblclick", () => {
        const others = content.series.map((s) => s.name).filter((other) => other !== name);
        const alone = !hidden.has(name) && others.every((other) => hidden.has(other));
        hidden.clear();
        if (!alone) others.forEach((other) => hidden.add(other));
        draw();
      });
      return button;
    }));
  }

  /* The stretch of time that all charts show, within the run. */
  function show(from, to) {
    const length = Math.min(Math.max(to - from, least), content.end);
    const begin = Math.min(Math.max(from, 0), content.end - length);
    range = [begin, begin + length];
    if (view) view.signal("from", range[0]).signal("to", range[1]).runAsync();
  }

  function zoom(factor, at = (range[0] + range[1]) / 2) {
    show(at - (at - range[0]) * factor, at + (range[1] - at) * factor);
  }

  function timeAt(event) {
    const left = place.querySelector("canvas").getBoundingClientRect().left + view.origin()[0];
    return range[0] + (event.clientX - left) / width * (range[1] - range[0]);
  }

  /* One pointer moves the charts, two stretch them; the wheel does so with a key held. */
  const pointers = new Map();
  place.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.clientX);
    place.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel"])
    place.addEventListener(name, (event) => pointers.delete(event.pointerId));
  place.addEventListener("pointermove", (event) => {
    if (!view || !pointers.has(event.pointerId)) return;
    const before = [...pointers.values()];
    pointers.set(event.pointerId, event.clientX);
    const after = [...pointers.values()];
    if (before.length === 1) {
      const away = (before[0] - after[0]) / width * (range[1] - range[0]);
      if (away) show(range[0] + away, range[1] + away);
    } else {
      const [was, is] = [before, after].map((xs) => Math.max(Math.abs(xs[0] - xs[1]), 10));
      zoom(was / is, timeAt({clientX: (after[0] + after[1]) / 2}));
    }
  });
  place.addEventListener("wheel", (event) => {
    if (!view || !(event.shiftKey || event.ctrlKey)) return;
    event.preventDefault();
    zoom(1.0015 ** (event.deltaY || event.deltaX), timeAt(event));
  }, {passive: false});
  place.addEventListener("dblclick", () => show(0, content.end));

  const boxes = document.getElementById("boxes");
  for (const panel of content.panels) {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = panel.shown;
    box.addEventListener("change", () => {
      if (box.checked) shown.add(panel.key); else shown.delete(panel.key);
      draw();
    });
    label.append(box, " ", panel.title.split(/[,(]/)[0].trim());
    boxes.append(label);
  }
  document.getElementById("in").addEventListener("click", () => zoom(0.5));
  document.getElementById("out").addEventListener("click", () => zoom(2));
  document.getElementById("whole").addEventListener("click", () => show(0, content.end));
  document.getElementById("paper").addEventListener("click", () => { isDark = !isDark; draw(); });
  dark.addEventListener("change", () => { isDark = dark.matches; draw(); });
  let timer = 0;
  window.addEventListener("resize", () => {
    if (Math.max(place.clientWidth - 82, 200) === width) return;
    clearTimeout(timer);
    timer = setTimeout(draw, 150);
  });
  draw();
})();
