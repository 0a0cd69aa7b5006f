/** Drawing: functions that all pictures share. */
import { colors } from "./colors.js";
import { tickText } from "../model/text.js";
import { firstEnding } from "../model/task.js";
import { ROW } from "../model/layout.js";

export const AXIS = 26;
const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
/** The approximate width of a letter, in pixels. There are too many texts to measure each. */
const LETTER = 6.6;
/** The opacity of a bar that the search has not found, and of the text on it. */
const DIM_BAR = 0.28, DIM_TEXT = 0.7;

/** @typedef {CanvasRenderingContext2D} Graphics */

/**
 * Clears the canvas. Gives the canvas one pixel for each device pixel that the canvas covers.
 * @param {HTMLCanvasElement} canvas
 */
export function clean(canvas) {
	const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));
	if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
	const g = /** @type {Graphics} */ (canvas.getContext("2d", { alpha: false }));
	g.setTransform(scale, 0, 0, scale, 0, 0);
	g.font = FONT;
	g.textBaseline = "middle";
	g.fillStyle = colors.back;
	g.fillRect(0, 0, width, height);
	return { g, width, height };
}

/** @param {number} width of a bar in pixels */
export const lettersIn = (width) => Math.floor((width - 6) / LETTER);

/**
 * @param {Graphics} g
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width the room for the text; longer text is cut
 * @param {string} color
 */
export function drawLabel(g, text, x, y, width, color) {
	const room = lettersIn(width);
	if (room < 2) return;
	g.fillStyle = color;
	// A text of wide letters is compressed to the bar's width.
	g.fillText(text.length <= room ? text : `${text.slice(0, room - 1)}…`, x + 3, y, width - 4);
}

/**
 * Returns the ticks of a time axis: the time of each tick, and the text at the tick.
 * @param {import("../model/recording.js").Range} view
 * @param {number} zero the time that is written as 0
 * @param {number} width of the axis in pixels
 */
export function findTicks({ from, to }, zero, width) {
	const rough = (to - from) / Math.max(1, width / 130), power = 10 ** Math.floor(Math.log10(rough));
	const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || rough);
	const most = Math.max(Math.abs(from - zero), Math.abs(to - zero)), ticks = [];
	const first = Math.ceil((from - zero) / step), last = Math.floor((to - zero) / step);
	// n counts from 0, not from `first`, because ++ does not change a number above 2^53.
	for (let n = 0; n <= last - first; n++) {
		const at = (first + n) * step;
		ticks.push({ time: at + zero, text: tickText(at, step, most) });
	}
	return ticks;
}

/**
 * @param {Graphics} g
 * @param {import("../model/recording.js").Range} view
 * @param {number} zero
 * @param {number} width
 */
export function drawAxis(g, view, zero, width) {
	const scale = width / (view.to - view.from);
	g.fillStyle = colors.panel;
	g.fillRect(0, 0, width, AXIS);
	g.strokeStyle = colors.line;
	g.beginPath();
	g.moveTo(0, AXIS - 0.5);
	g.lineTo(width, AXIS - 0.5);
	let free = 0;
	for (const { time, text } of findTicks(view, zero, width)) {
		const x = Math.round((time - view.from) * scale) + 0.5, room = g.measureText(text).width;
		g.moveTo(x, AXIS - 7);
		g.lineTo(x, AXIS);
		// A text that would not fit at the right edge is on the left of its tick.
		const left = x + 4 + room > width ? Math.max(2, x - 4 - room) : x + 4;
		if (left < free) continue;
		free = left + room + 4;
		g.fillStyle = colors.dim;
		g.fillText(text, left, AXIS / 2);
	}
	g.stroke();
}

/**
 * @typedef {object} Bars the members that drawBars() reads from a Task or a Lanes object
 * @property {Float64Array} start
 * @property {Float64Array} dur
 * @property {(i: number) => number} func returns an index in `names` and `fills`
 */

/**
 * Draws a row of bars. A narrow bar takes one pixel, and no other bar is drawn in that pixel.
 * @param {Graphics} g
 * @param {Bars} task
 * @param {Uint32Array} row
 * @param {object} at
 * @param {number} at.y
 * @param {number} at.width
 * @param {import("../model/recording.js").Range} at.view
 * @param {string[]} at.names
 * @param {string[]} at.fills colours by function
 * @param {((i: number) => boolean) | null} at.isMatch null: there is no search
 */
export function drawBars(g, task, row, { y, width, view, names, fills, isMatch }) {
	const scale = width / (view.to - view.from), pixel = 1 / scale;
	let k = firstEnding(task, row, view.from, 0), bars = 0;
	while (k < row.length) {
		const i = row[k], start = task.start[i];
		if (start >= view.to) break;
		const x = Math.max(0, (start - view.from) * scale);
		const wide = Math.min(width, (start + task.dur[i] - view.from) * scale) - x;
		const func = task.func(i), isFound = isMatch !== null && isMatch(i);
		const isDim = isMatch !== null && !isFound;
		g.globalAlpha = isDim ? DIM_BAR : 1;
		g.fillStyle = isFound && wide < 3 ? colors.mark : fills[func];
		bars++;
		if (wide < 1.5) {
			const column = Math.floor(x);
			g.fillRect(column, y, 1, ROW - 2);
			k = firstEnding(task, row, view.from + (column + 1) * pixel, k + 1);
			continue;
		}
		g.fillRect(x, y, Math.max(1, wide - 0.5), ROW - 2);
		if (isFound && wide >= 3) {
			g.strokeStyle = colors.mark;
			g.strokeRect(x + 0.5, y + 0.5, Math.max(1, wide - 1.5), ROW - 3);
		}
		if (wide > 22) {
			if (isDim) g.globalAlpha = DIM_TEXT;
			drawLabel(g, names[func], x, y + (ROW - 1) / 2, wide, isDim ? colors.text : colors["bar-text"]);
		}
		k++;
	}
	g.globalAlpha = 1;
	return bars;
}

/**
 * Draws a frame around a bar.
 * @param {Graphics} g
 * @param {{ x: number, wide: number, y: number, width: number }} at
 * @param {string} color
 * @param {number} thick
 */
export function drawFrame(g, { x, wide, y, width }, color, thick) {
	const left = Math.max(-4, x), right = Math.min(width + 8, x + wide);
	g.strokeStyle = color;
	g.lineWidth = thick;
	g.strokeRect(left + 0.5, y + 0.5, Math.max(2, right - left - 1), ROW - 3);
	g.lineWidth = 1;
}
