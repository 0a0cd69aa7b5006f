/** The strip of the whole recording: what is seen, what was chosen, where matches are. */
import { canvasById, pointIn } from "../ui/element.js";
import { clean } from "../ui/canvas.js";
import { colors } from "../ui/colors.js";
import { pause } from "../data/load.js";

/** So many calls are looked at before the browser may draw again. */
const MARK_SLICE = 1000000;

export class Overview {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		this.canvas = canvasById("overview");
		/** By pixel: 1 where a call matches. */
		this.marks = new Uint8Array(0);
		/** Changes when marks are to be made again. */
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

	/** Find the marks again: in slices, so that keys are not waited for. */
	async findMarks() {
		const turn = ++this.turn, { search, recording } = this.app, width = this.canvas.clientWidth;
		const marks = new Uint8Array(width + 1), { first, last } = recording;
		const scale = width / (last - first);
		this.marks = new Uint8Array(0);
		if (!search.isOn) return;
		for (const task of recording.tasks) {
			for (let at = 0; at < task.n;) {
				await pause();
				if (turn !== this.turn) return;
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
		this.marks = marks;
		this.app.tell("draw");
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
		for (let x = 0; x < this.marks.length; x++) if (this.marks[x]) g.fillRect(x, 3, 1, height - 6);
	}
}
