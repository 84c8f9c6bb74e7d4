// Attention over a few tokens in double precision, while points are dragged.
// It computes what weights_of, output_of and argmax_attention of attnlab.geometry do; a browser
// test compares the two.

const TIE = 1e-12; // scores that differ by less than this share of their size are tied

export function dot(a, b) {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

/** The weights softmax(K q / T); at T = 0 all weight is on the best key, and a tie is shared. */
export function weightsOf(keys, query, temperature = 1) {
  const scores = keys.map((key) => dot(key, query));
  const best = Math.max(...scores);
  if (temperature === 0) return argmaxWeights(keys, query, scores, best);
  const odds = scores.map((score) => Math.exp((score - best) / temperature));
  const total = odds.reduce((sum, x) => sum + x, 0);
  return odds.map((x) => x / total);
}

function argmaxWeights(keys, query, scores, best) {
  const sizes = keys.map((key) => dot(key.map(Math.abs), query.map(Math.abs)));
  const least = best - TIE * Math.max(...sizes);
  const winners = scores.filter((score) => score >= least).length;
  return scores.map((score) => (score >= least ? 1 / winners : 0));
}

/** The mean of the rows by the weights. */
export function meanOf(rows, weights) {
  return rows[0].map((_, axis) => dot(rows.map((row) => row[axis]), weights));
}
