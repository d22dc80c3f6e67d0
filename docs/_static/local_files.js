// A search shows an excerpt of each page that it finds. For that it fetches the page, which browsers
// refuse where the site is opened from a disk: there it shows titles alone.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
