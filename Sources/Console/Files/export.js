// Lists as CSV files (RFC 4180) for spreadsheets.

/**
 * Rows of values as CSV.
 *
 * A text that a spreadsheet would calculate gets an apostrophe, which spreadsheets show as a text's mark.
 */
export const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

function cell(value) {
  let text = `${value ?? ""}`;
  if (typeof value !== "number" && /^[\s\u0000-\u001f]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) || /^[\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n;\t']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lets the browser save a text as a file. */
export function save(name, text, type = "text/csv;charset=utf-8") {
  // The mark tells spreadsheets that it is UTF-8.
  const mark = type.startsWith("text/csv") ? "\ufeff" : "";
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([mark, text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
