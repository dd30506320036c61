#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""widths.py PAGE OUT WIDTH: writes a page OUT that shows PAGE in a frame of that width and says in #said how far the document, and how many
of its boxes, are wider than their place."""
import json
import sys

page = open(sys.argv[1]).read().replace("Content-Security-Policy", "x-none").replace("</", "<\\/")
open(sys.argv[2], "w").write("""<!DOCTYPE html><body><iframe style="width:WIDTHpx;height:800px;border:0"></iframe><p id="said"></p><script>
const frame = document.querySelector("iframe");
frame.onload = () => {
    const d = frame.contentDocument, boxes = [...d.querySelectorAll(".scroll")];
    const wide = boxes.filter(b => b.scrollWidth > b.clientWidth);
    document.getElementById("said").textContent = "beyond " + (d.documentElement.scrollWidth - d.documentElement.clientWidth) +
        ", " + wide.length + " of " + boxes.length + " boxes scroll" +
        wide.map(b => "; " + b.getAttribute("aria-label") + " " + b.scrollWidth + " > " + b.clientWidth + " " + (b.closest("section")?.querySelector("h2,h3,h4")?.textContent ?? "")).join("");
};
frame.srcdoc = PAGE;
</script>""".replace("WIDTH", sys.argv[3]).replace("PAGE", json.dumps(page).replace("<\\\\/", "<\\/")))
