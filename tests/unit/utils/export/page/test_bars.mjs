/** Bars, an axis, and the texts on them. */
import assert from "node:assert";
import test from "node:test";
import { drawAxis, drawBars } from "../../../../../utils/export/page/ui/canvas.js";
import { colors } from "../../../../../utils/export/page/ui/colors.js";
import { makeRecording } from "./made.mjs";

Object.assign(colors, { text: "text", "bar-text": "bar-text" });

/** Returns the texts that are drawn, each with its place, its room, and its colour. */
function textsOf(names, isMatch) {
	const { tasks: [task] } = makeRecording([[[0, 0, 30, "a"], [40, 0, 60, "b"]]]), texts = [];
	const g = {
		fillRect() {}, strokeRect() {}, globalAlpha: 1,
		fillText(text, x, y, room) { texts.push([text, x, room, g.fillStyle, g.globalAlpha]); },
	};
	drawBars(g, task, task.rows[0],
		{ y: 0, width: 100, view: { from: 0, to: 100 }, names, fills: ["red", "blue"], isMatch });
	return texts;
}

test("a text stays on its bar, however wide its letters are", () => {
	assert.deepEqual(textsOf(["wwwwwww", "b"], null),
		[["ww…", 3, 26, "bar-text", 1], ["b", 43, 56, "bar-text", 1]]);
});

test("a text on a bar that was not looked for can be read on the page's ground", () => {
	assert.deepEqual(textsOf(["a", "b"], (i) => i === 0),
		[["a", 3, 26, "bar-text", 1], ["b", 43, 56, "text", 0.7]]);
});

test("the texts of an axis do not stand on each other", () => {
	const ends = [];
	const g = {
		fillRect() {}, beginPath() {}, moveTo() {}, lineTo() {}, stroke() {},
		measureText: (text) => ({ width: text.length * 7 }),
		fillText(text, x) { ends.push([x, x + text.length * 7]); },
	};
	drawAxis(g, { from: 118377, to: 118397 }, 0, 1385);
	assert.ok(ends.length > 5 && ends.every(([left], k) => !k || left > ends[k - 1][1]), String(ends));
});
