/*
 * The script of a flame graph in a picture file. A click zooms, and Reset shows all boxes. The
 * search field marks the boxes whose names have the typed text. embed.py puts the script into C
 * source. Names from the recording are never parsed as markup: the script reads them from
 * attributes, and writes them only to text nodes.
 */
(() => {
	"use strict";
	const svg = document.currentScript.ownerSVGElement, SVG = svg.namespaceURI;
	const HTML = "http://www.w3.org/1999/xhtml", MARGIN = 10, LETTER = 6.6, MARK = "#c81e63";
	const all = svg.viewBox.baseVal.width - 2 * MARGIN;
	const number = (element, name) => Number(element.getAttribute(name));
	const boxes = [...svg.querySelectorAll("g")].map((g) => {
		const rect = g.querySelector("rect");
		return {
			g, rect, text: g.querySelector("text"), name: g.getAttribute("data-name"), fill: rect.getAttribute("fill"),
			x: number(rect, "x"), y: number(rect, "y"), width: number(rect, "width"),
		};
	});

	function relabel(box, x, width) {
		const room = Math.floor((width - 6) / LETTER);
		if (room < 3) {
			if (box.text) box.text.textContent = "";
			return;
		}
		if (!box.text) {
			box.text = box.g.appendChild(document.createElementNS(SVG, "text"));
			box.text.setAttribute("y", box.y + 12);
		}
		box.text.setAttribute("x", x + 3);
		box.text.textContent = box.name.length <= room ? box.name : `${box.name.slice(0, room - 1)}…`;
	}

	// Stretch the box @to and its callers to the whole width. null: show all boxes.
	function zoom(to) {
		const from = to ? to.x : MARGIN, scale = to ? all / to.width : 1, slack = 0.01;
		reset.setAttribute("visibility", to ? "visible" : "hidden");
		for (const box of boxes) {
			const isAround = to && box.y > to.y && box.x <= to.x + slack && box.x + box.width >= to.x + to.width - slack;
			const isIn = !to || (box.y <= to.y && box.x >= to.x - slack && box.x + box.width <= to.x + to.width + slack);
			box.g.setAttribute("visibility", isAround || isIn ? "visible" : "hidden");
			box.g.setAttribute("opacity", isAround ? 0.5 : 1);
			if (!isAround && !isIn) continue;
			const x = isAround ? MARGIN : MARGIN + (box.x - from) * scale, width = isAround ? all : box.width * scale;
			box.rect.setAttribute("x", x);
			box.rect.setAttribute("width", width);
			relabel(box, x, width);
		}
	}

	// Mark the boxes whose names have @text, and show how many percent of the width these boxes
	// cover. A box above another matching box adds no width.
	function find(text) {
		const wanted = text.trim().toLowerCase(), matches = [];
		for (const box of boxes) {
			const isMatch = wanted !== "" && box.name.toLowerCase().includes(wanted);
			box.rect.setAttribute("fill", isMatch ? MARK : box.fill);
			if (isMatch) matches.push(box);
		}
		let sum = 0, end = 0;
		for (const { x, width } of matches.sort((a, b) => a.x - b.x)) {
			sum += Math.max(0, x + width - Math.max(x, end));
			end = Math.max(end, x + width);
		}
		const boxesText = `${matches.length} ${matches.length === 1 ? "box" : "boxes"}`;
		found.textContent = wanted ? `${boxesText}, ${(100 * sum / all).toFixed(1)} %` : "";
	}

	const place = svg.appendChild(document.createElementNS(SVG, "foreignObject"));
	for (const [name, value] of [["x", MARGIN + all - 170], ["y", 8], ["width", 170], ["height", 26]])
		place.setAttribute(name, value);
	const field = place.appendChild(document.createElementNS(HTML, "input"));
	for (const [name, value] of [["type", "search"], ["placeholder", "Find ( / )"], ["aria-label", "Find functions"],
		["style", "width:100%;height:24px;box-sizing:border-box;font:inherit"]]) field.setAttribute(name, value);
	const label = (x, anchor) => {
		const text = svg.appendChild(document.createElementNS(SVG, "text"));
		text.setAttribute("x", x);
		text.setAttribute("y", 24);
		text.setAttribute("text-anchor", anchor);
		return text;
	};
	const found = label(MARGIN + all - 178, "end"), reset = label(MARGIN, "start");
	found.setAttribute("role", "status");
	reset.setAttribute("role", "button");
	reset.setAttribute("tabindex", 0);
	reset.setAttribute("style", "pointer-events:auto;cursor:pointer;text-decoration:underline");
	reset.setAttribute("visibility", "hidden");
	reset.textContent = "Reset";
	reset.addEventListener("click", () => zoom(null));
	field.addEventListener("input", () => find(field.value));
	for (const box of boxes) box.g.addEventListener("click", () => zoom(box));
	addEventListener("keydown", (event) => {
		if (event.key === "Escape") {
			field.value = "";
			find("");
			zoom(null);
		}
		if (event.key === "Enter" && document.activeElement === reset) zoom(null);
		if (event.key !== "/" || document.activeElement === field) return;
		event.preventDefault();
		field.focus();
	});
})();
