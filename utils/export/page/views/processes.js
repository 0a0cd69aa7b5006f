/**
 * The view of processes: programs side by side, the number of working programs, and the critical
 * path.
 */
import { byId, canvasById, element, makeTable, pointIn } from "../ui/element.js";
import { AXIS, clean, drawAxis, drawBars, drawFrame } from "../ui/canvas.js";
import { colors } from "../ui/colors.js";
import { count, timeText } from "../model/text.js";
import { hideTip, showTip } from "../ui/tip.js";
import { findIdle, runningAt, slowestTen } from "../model/lanes.js";
import { firstEnding } from "../model/task.js";
import { followPointer } from "../ui/pointer.js";
import { ROW } from "../model/layout.js";
import { commandOf, describe, endingOf } from "./details.js";

/** The height, in pixels, of the graph that shows how many processes work. */
const GRAPH = 70;
const LANES_TOP = AXIS + GRAPH + 4;

export class ProcessesView {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		this.canvas = canvasById("lanes");
		this.top = 0;
		/** @type {number} */
		this.hovered = -1;
		/**
		 * The processes for which the summary was made.
		 * @type {import("../model/lanes.js").Lanes | null}
		 */
		this.summed = null;
		followPointer(this.canvas, app, {
			hover: (event) => this.#hover(event),
			leave: () => { this.hovered = -1; hideTip(); app.tell("draw"); },
			click: (event) => {
				const i = this.executionAt(pointIn(this.canvas, event));
				app.select(i < 0 ? null : [app.recording.lanes, i]);
			},
			scrollBy: (pixels) => this.scrollTo(this.top + pixels),
		});
		byId("summary").addEventListener("click", (event) => this.#onClick(event));
	}

	/** @param {number} top */
	scrollTo(top) {
		const { rows } = this.app.recording.lanes;
		this.top = Math.max(0, Math.min(top, rows.length * ROW - 60));
		this.app.tell("draw");
	}

	scrollToSelected() {
		const call = this.app.selected, { lanes } = this.app.recording;
		if (!call || call[0] !== lanes) return;
		const y = lanes.row[call[1]] * ROW, high = this.canvas.clientHeight - LANES_TOP;
		if (y < this.top || y + ROW > this.top + high) this.scrollTo(y - high / 2);
	}

	/** @param {{ x: number, y: number }} place */
	executionAt({ x, y }) {
		const { lanes } = this.app.recording, { from, to } = this.app.zoom;
		const scale = this.canvas.clientWidth / (to - from), time = from + x / scale, slack = 1.5 / scale;
		const row = y < AXIS + GRAPH ? undefined : lanes.rows[Math.floor((y - LANES_TOP + this.top) / ROW)];
		const k = row ? firstEnding(lanes, row, time - slack, 0) : 0;
		return row && k < row.length && lanes.start[row[k]] <= time + slack ? row[k] : -1;
	}

	draw() {
		if (this.summed !== this.app.recording.lanes) this.#makeSummary();
		const { g, width, height } = clean(this.canvas), { app } = this, view = app.zoom;
		const { lanes, names, fills, meta } = app.recording, { search } = app;
		const isMatch = search.isOn ? (/** @type {number} */ i) => search.has(lanes, i) : null;
		let bars = 0;
		lanes.rows.forEach((row, depth) => {
			const y = LANES_TOP + depth * ROW - this.top;
			if (y + ROW > AXIS && y < height)
				bars += drawBars(g, lanes, row, { y, width, view, names, fills, isMatch });
		});
		this.#drawPath(g, width);
		this.#drawRunning(g, width);
		drawAxis(g, view, meta.zero, width);
		return bars;
	}

	/**
	 * @param {CanvasRenderingContext2D} g
	 * @param {number} width
	 */
	#drawPath(g, width) {
		const { app, hovered } = this, { lanes } = app.recording, view = app.zoom;
		const scale = width / (view.to - view.from);
		const yOf = (/** @type {number} */ i) => LANES_TOP + lanes.row[i] * ROW - this.top;
		for (const { i, from, to } of lanes.path) {
			const x = Math.max(0, (from - view.from) * scale), end = Math.min(width, (to - view.from) * scale);
			if (x > width || end < 0) continue;
			g.fillStyle = colors.mark;
			g.fillRect(x, yOf(i) + ROW - 3, Math.max(1, end - x), 3);
		}
		const selected = app.selected && app.selected[0] === lanes ? app.selected[1] : -1;
		for (const i of [hovered, selected]) {
			if (i < 0) continue;
			const x = (lanes.start[i] - view.from) * scale;
			drawFrame(g, { x, wide: lanes.dur[i] * scale, y: yOf(i), width }, colors.text, 1);
		}
	}

	/**
	 * Draws the number of processes that worked at each time. The area between this number and
	 * the number of jobs that could run at once is shaded.
	 * @param {CanvasRenderingContext2D} g
	 * @param {number} width
	 */
	#drawRunning(g, width) {
		const { lanes } = this.app.recording, view = this.app.zoom, scale = width / (view.to - view.from);
		const top = AXIS + 6, high = GRAPH - 12, most = Math.max(lanes.most, lanes.slots, 1);
		const y = (/** @type {number} */ nr) => top + high * (1 - nr / most);
		const end = (/** @type {number} */ time) => Math.min(width, (time - view.from) * scale);
		g.fillStyle = colors.panel;
		g.fillRect(0, AXIS, width, GRAPH);
		lanes.levels.forEach(({ time, nr }, k) => {
			const until = k + 1 < lanes.levels.length ? lanes.levels[k + 1].time : time;
			if (until < view.from || time > view.to) return;
			// Whole pixels leave no gaps between neighbours.
			const x = Math.max(0, Math.floor(end(time))), wide = Math.max(Math.floor(end(until)) - x, 1);
			g.fillStyle = colors.wait;
			if (nr < lanes.slots) g.fillRect(x, y(lanes.slots), wide, y(nr) - y(lanes.slots));
			g.fillStyle = colors.accent;
			g.fillRect(x, y(nr), wide, top + high - y(nr));
		});
		const text = `${lanes.slots} ${lanes.jobs ? "jobs" : "at most"}`;
		g.fillStyle = colors.panel;
		g.fillRect(4, y(lanes.slots), g.measureText(text).width + 8, 17);
		g.fillStyle = colors.text;
		g.fillText(text, 8, y(lanes.slots) + 9);
		g.fillStyle = colors.line;
		g.fillRect(0, AXIS + GRAPH - 1, width, 1);
	}

	/** @param {PointerEvent} event */
	#hover(event) {
		const place = pointIn(this.canvas, event), i = this.executionAt(place), { app } = this;
		const { lanes, meta } = app.recording;
		if (i !== this.hovered) { this.hovered = i; app.tell("draw"); }
		if (i >= 0) {
			const d = describe(app, [lanes, i]);
			showTip(event, d.name, `took ${d.took}, itself ${d.self}`, `at ${d.start}, ${d.task}`);
		} else if (place.y > AXIS && place.y < AXIS + GRAPH) {
			const { from, to } = app.zoom, time = from + place.x / this.canvas.clientWidth * (to - from);
			showTip(event, `${runningAt(lanes, time)} of ${lanes.slots}`, `at ${timeText(time - meta.zero)}`);
		} else {
			hideTip();
		}
	}

	/** @param {MouseEvent} event */
	#onClick(event) {
		const target = /** @type {HTMLElement} */ (event.target);
		const row = /** @type {HTMLElement | null} */ (target.closest("tbody tr"));
		if (row) this.app.reveal([this.app.recording.lanes, Number(row.dataset.i)]);
	}

	/**
	 * @param {number} i
	 * @param {string[]} cells
	 */
	#makeRow(i, cells) {
		const e = this.app.recording.meta.executions[i];
		return element("tr", { "data-i": i },
			element("td", { title: e.command }, element("button", { class: "name" }, commandOf(e))),
			...cells.map((cell) => element("td", {}, cell)),
			element("td", { class: e.status || e.signal ? "bad" : "" }, endingOf(e)));
	}

	#makeSummary() {
		const { lanes, first, last, meta } = this.app.recording, all = last - first;
		const { some, lost } = findIdle(lanes, first, last), least = all / 200;
		const long = lanes.path.filter((part) => part.to - part.from >= least);
		const rest = lanes.path.filter((part) => part.to - part.from < least);
		const slow = makeTable("The slowest ten", ["Command", "Itself", "Took", "On the path", "Ended"],
			slowestTen(lanes).map((i) => this.#makeRow(i,
				[lanes.own[i], lanes.dur[i], lanes.onPath[i]].map(timeText))));
		const path = makeTable("Critical path", ["Command", "At", "For", "Ended"],
			long.map((part) => this.#makeRow(part.i,
				[part.from - meta.zero, part.to - part.from].map(timeText))));
		this.summed = lanes;
		slow.id = "slowest";
		path.id = "path";
		const jobs = lanes.jobs ? ` (-j${lanes.jobs})` : "";
		const idle = (100 * lost / (lanes.slots * all || 1)).toFixed(1);
		byId("summary").replaceChildren(
			element("p", {}, `${count(lanes.processes.length, "process", "processes")}, ` +
				`${count(lanes.n, "execution")}; ${lanes.most} worked at a time at most${jobs}. ` +
				`For ${timeText(some)} of ${timeText(all)} fewer than ${lanes.slots} did: ` +
				`${idle} % of the slots were idle.`), slow, path);
		const shorter = rest.reduce((sum, part) => sum + part.to - part.from, 0);
		if (rest.length)
			byId("summary").append(element("p", {},
				`${count(rest.length, "shorter part")} took ${timeText(shorter)} in all.`));
	}
}
