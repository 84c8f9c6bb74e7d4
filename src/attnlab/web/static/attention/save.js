// Saving what is shown as a file.

/** Let the browser save a blob under a name. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name that every file system takes. */
export function fileName(parts, ending) {
  return `${parts.join("-").replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 120)}.${ending}`;
}

/** A head's numbers with their names; JSON has no word for −∞, so what the mask hides is null. */
export function matrixJson({values, rows, columns, queries, keys}, about) {
  const numbers = Array.from({length: rows}, (_, row) => (
    Array.from(values.subarray(row * columns, (row + 1) * columns), (one) => (Number.isFinite(one) ? one : null))));
  const text = JSON.stringify({...about, queries, keys, values: numbers});
  return new Blob([text], {type: "application/json"});
}
