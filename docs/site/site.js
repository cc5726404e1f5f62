// What mdBook's pages lack for those who use a keyboard or a screen reader.
"use strict";

// What scrolls by itself is reached by the keyboard.
for (const box of document.querySelectorAll("pre > code, .table-wrapper")) box.tabIndex = 0;

// The switch of the list of chapters is a label that says whether it is open, which only a button may.
const toggle = document.getElementById("mdbook-sidebar-toggle");
if (toggle) toggle.setAttribute("role", "button");
