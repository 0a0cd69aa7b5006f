/** The strip of the whole recording: the visible part, the chosen range, and the matches. */
import { canvasById, pointIn } from "../ui/element.js";
import { clean } from "../ui/canvas.js";
import { colors } from "../ui/colors.js";
import { pause } from "../data/load.js";

/** findMarks() pauses after this number of recorded calls, so that the browser can draw. */
const MARK_SLICE = 1000000;

export class Overview {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		this.canvas = canvasById("overview");
		/**
		 * One array per recording. An element stands for a pixel: 1 if a matching call
		 * begins at the pixel.
		 * @type {Uint8Array[]}
		 */
		this.marks = [];
		/**
		 * Incremented at the start of each search for marks. A search stops when a newer
		 * search has started.
		 */
		this.turn = 0;
		let isDown = false;
		const move = (/** @type {PointerEvent} */ event) => {
			const { first, last } = app.recording, { from, to } = app.zoom;
			const at = first + pointIn(this.canvas, event).x / this.canvas.clientWidth * (last - first);
			app.setZoom({ from: at - (to - from) / 2, to: at + (to - from) / 2 });
		};
		this.canvas.addEventListener("pointerdown", (event) => {
			isDown = true;
			this.canvas.setPointerCapture(event.pointerId);
			move(event);
		});
		this.canvas.addEventListener("pointermove", (event) => { if (isDown) move(event); });
		this.canvas.addEventListener("pointerup", () => { isDown = false; });
		this.canvas.addEventListener("pointercancel", () => { isDown = false; });
	}

	/** Finds the marks. The search is done in slices, between which the page responds to keys. */
	async findMarks() {
		const turn = ++this.turn, { apps } = this.app, found = [];
		this.marks = [];
		for (const app of apps) {
			const marks = app.search.isOn && await this.#findMarksOf(app, turn);
			if (!marks) return;
			found.push(marks);
		}
		this.marks = found;
		this.app.tell("draw");
	}

	/**
	 * @param {import("../state/app.js").App} app
	 * @param {number} turn
	 */
	async #findMarksOf({ search, recording }, turn) {
		const width = this.canvas.clientWidth, marks = new Uint8Array(width + 1);
		const { first, last } = recording, scale = width / (last - first);
		for (const task of recording.tasks) {
			for (let at = 0; at < task.n;) {
				await pause();
				if (turn !== this.turn) return null;
				const stop = at + MARK_SLICE;
				let reached = task.n;
				search.scan(task, at, 1, (i) => {
					if (i >= stop) { reached = i; return true; }
					marks[Math.floor((task.start[i] - first) * scale)] = 1;
					return false;
				});
				at = reached;
			}
		}
		return marks;
	}

	draw() {
		const { g, width, height } = clean(this.canvas), { recording, state, zoom } = this.app;
		const { first, last } = recording, scale = width / (last - first);
		const xOf = (/** @type {number} */ time) => Math.max(0, Math.min(width, (time - first) * scale));
		/**
		 * @param {import("../model/recording.js").Range} range
		 * @param {string} color
		 * @param {number} alpha
		 */
		const band = ({ from, to }, color, alpha) => {
			g.globalAlpha = alpha;
			g.fillStyle = color;
			g.fillRect(xOf(from), 0, Math.max(2, xOf(to) - xOf(from)), height);
			g.globalAlpha = 1;
		};
		g.fillStyle = colors.wait;
		g.fillRect(0, 0, width, height);
		band(zoom, colors.panel, 1);
		if (state.range) band(state.range, colors.accent, 0.5);
		g.fillStyle = colors.mark;
		const high = (height - 6) / this.app.apps.length;
		this.marks.forEach((marks, k) => {
			for (let x = 0; x < marks.length; x++) if (marks[x]) g.fillRect(x, 3 + k * high, 1, high);
		});
	}
}
