// SPDX-License-Identifier: Apache-2.0
// profile/flame_graph.js — what a flame graph does in a browser: a frame fills the width when it is
// clicked, a search marks frames and says how much of the time they are.
"use strict";
const svg = document.documentElement;
const letter = 7.3;  // of the font, in pixels
const frames = [...document.querySelectorAll("g.frame")].map((group) => ({
  group, rect: group.querySelector("rect"), text: group.querySelector("text"), name: group.dataset.name,
  begin: Number(group.dataset.begin), end: Number(group.dataset.end), level: Number(group.dataset.level)}));
const status = document.getElementById("status"), search = document.getElementById("search"), reset = document.getElementById("reset");
const everything = {begin: 0, end: 1, level: -1};
let shown = everything;

const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;

// Ancestors of the frame that is shown fill the width, what lies beside it is left out.
function layout() {
  const width = Math.max(320, svg.clientWidth || window.innerWidth), scale = width / (shown.end - shown.begin);
  svg.setAttribute("viewBox", `0 0 ${width} ${svg.dataset.height}`);
  for (const frame of frames) {
    const begin = Math.max(frame.begin, shown.begin), end = Math.min(frame.end, shown.end), size = (end - begin) * scale;
    frame.group.style.display = size < 0.3 ? "none" : "";
    if (size < 0.3) continue;
    const left = (begin - shown.begin) * scale, room = Math.floor((size - 6) / letter);
    frame.rect.setAttribute("x", left);
    frame.rect.setAttribute("width", Math.max(size - 0.5, 0.3));
    frame.rect.style.opacity = frame.level < shown.level ? 0.5 : 1;
    frame.text.setAttribute("x", left + 3);
    frame.text.textContent = frame.name.length <= room ? frame.name : room < 4 ? "" : `${frame.name.slice(0, room - 2)}..`;
  }
  reset.disabled = shown === everything;
}

function zoom(frame) {
  shown = frame;
  layout();
}

// Frames inside a marked frame are not counted again.
function mark() {
  const wanted = search.value.toLowerCase();
  let until = 0, found = 0, share = 0;
  for (const frame of [...frames].sort((a, b) => a.begin - b.begin || a.level - b.level)) {
    const isFound = wanted !== "" && frame.name.toLowerCase().includes(wanted);
    frame.group.classList.toggle("found", isFound);
    if (!isFound) continue;
    ++found;
    if (frame.end <= until) continue;
    share += frame.end - Math.max(until, frame.begin);
    until = frame.end;
  }
  status.textContent = wanted === "" ? "" : `${found} of ${frames.length} boxes, ${percent(share)} of the time`;
}

for (const frame of frames) {
  frame.group.addEventListener("click", () => zoom(frame));
  frame.group.addEventListener("keydown", (event) => { if (event.key === "Enter") zoom(frame); });
}
reset.addEventListener("click", () => zoom(everything));
search.addEventListener("input", mark);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") zoom(everything);
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
window.addEventListener("resize", layout);
layout();
