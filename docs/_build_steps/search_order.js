// The order of what a search finds: pages that answer questions come before those for maintainers.
// Sphinx puts this file into its search and asks `score` for every result.
const FIRST_PAGES = ["faq", "start", "metrics", "tables", "embeddings", "tutorial", "choosing_k",
  "outliers_and_summaries", "new_points", "command", "production", "distributed", "comparison"];
const LAST_PAGES = ["algorithms", "architecture", "benchmarks", "changelog", "contributing",
  "file_format", "releasing", "reliability", "starts", "theory", "theory_embedding"];

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (FIRST_PAGES.includes(page)) return score + 4 - FIRST_PAGES.indexOf(page) / 100;
    if (LAST_PAGES.includes(page)) return score - 12;  // below a mere mention elsewhere
    if (page === "api/isthmus.TransitiveCut") return score + 2;
    if (/^api\/isthmus\.[A-Z]/.test(page)) return score + 1;  // before the same names of packages
    return score;
  },
  // An object by its full name, or by the last part of it; then what its domain says of it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  // A word in a title, in a part of one, in a text, in a part of a word.
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
