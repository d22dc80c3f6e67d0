"use strict";
// Tables as CSV, and as files that the browser saves.

(() => {
  // A text that a spreadsheet would take for a formula begins with an apostrophe.
  function field(value) {
    let text = String(value);
    if (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  Explorer.csvLine = (values) => `${values.map(field).join(",")}\n`;

  Explorer.save = function save(name, lines) {
    const url = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
})();
