/** The view of the calls of all tasks, in the order of time. */
import { byId, canvasById, element, pointIn } from "../ui/element.js";
import { clean, drawAxis, drawBars, drawFrame } from "../ui/canvas.js";
import { colors } from "../ui/colors.js";
import { timeText } from "../model/text.js";
import { hideTip, showTip } from "../ui/tip.js";
import { firstEnding, lowerBound } from "../model/task.js";
import { HEAD, layOut, ROW } from "../model/layout.js";
import { followPointer } from "../ui/pointer.js";
import { nearestPoint } from "../model/events.js";
import { describe } from "./details.js";

/**
 * The page has the headings of all strips that are less than this number of pixels above or below
 * the visible part of the timeline. So the key Tab can reach these headings.
 */
const NEAR = 200;

/**
 * Returns the key of the strip's heading in Timeline.shown. The key changes when the strip gets
 * other threads.
 * @param {import("../model/layout.js").Strip} strip
 */
const ownName = ({ key, tasks }) => `${key}: ${tasks.map((task) => task.tid).join()}`;

export class Timeline {
	/**
	 * @param {import("../state/app.js").App} app
	 * @param {string} name the ids of the timeline's elements begin with this name
	 */
	constructor(app, name = "timeline") {
		this.app = app;
		this.canvas = canvasById(`${name}-canvas`);
		this.axis = canvasById(`${name}-axis`);
		this.scroller = byId(`${name}-scroller`);
		this.headings = byId(`${name}-headings`);
		this.spacer = byId(`${name}-spacer`);
		/**
		 * The values of Strip.key for collapsed strips.
		 * @type {Set<string>}
		 */
		this.folded = new Set();
		/** @type {import("../model/layout.js").Strip[]} */
		this.strips = [];
		/** @type {import("../model/task.js").Call | null} */
		this.hovered = null;
		/** @type {Map<string, HTMLElement>} */
		this.shown = new Map();
		this.bars = 0;
		/**
		 * The pointer's last PointerEvent, or null when the pointer is not over the picture.
		 * @type {PointerEvent | null}
		 */
		this.pointer = null;
		this.scroller.addEventListener("scroll", () => app.tell("draw"));
		// Marks of events are drawn under the headings. So a click on a heading, but not on
		// a button of the heading, can select an event.
		this.headings.addEventListener("click", (event) => {
			if (!/** @type {HTMLElement} */ (event.target).closest("button")) this.#choose(event);
		});
		followPointer(this.canvas, app, {
			hover: (event) => this.#hover(event),
			leave: () => { this.hovered = this.pointer = null; hideTip(); app.tell("draw"); },
			click: (event) => this.#choose(event),
			scrollBy: (rows) => { this.scroller.scrollTop += rows; },
		}, this.headings);
	}

	layOut() {
		const { recording, state } = this.app;
		this.strips = layOut(recording, state, this.folded);
		const last = this.strips[this.strips.length - 1];
		this.spacer.style.height = `${last ? last.bottom : 0}px`;
	}

	draw() {
		const { app, scroller } = this, { recording } = app, view = app.zoom;
		this.layOut();
		const { g, width, height } = clean(this.canvas), top = scroller.scrollTop;
		this.bars = 0;
		const seen = this.strips.filter((s) => s.bottom > top && s.top < top + height);
		recording.supplier?.want(view, width, seen.flatMap((s) => s.tasks));
		for (const strip of seen) this.#drawStrip(g, strip, strip.top - top, width, height);
		this.#drawChosen(g, width);
		this.#putHeadings(this.strips.filter((s) => s.bottom > top - NEAR && s.top < top + height + NEAR));
		const axis = clean(this.axis);
		drawAxis(axis.g, view, recording.meta.zero, width);
		return this.bars;
	}

	/**
	 * @param {CanvasRenderingContext2D} g
	 * @param {import("../model/layout.js").Strip} strip
	 * @param {number} y
	 * @param {number} width
	 * @param {number} height
	 */
	#drawStrip(g, strip, y, width, height) {
		const { app } = this, { search, recording: { names, fills } } = app, view = app.zoom;
		g.fillStyle = colors.grid;
		g.fillRect(0, y, width, HEAD - 3);
		for (const task of strip.tasks) {
			this.#drawPoints(g, task, y + HEAD, width);
			if (strip.isFolded) continue;
			const isMatch = search.isOn ? (/** @type {number} */ i) => search.has(task, i) : null;
			task.rows.forEach((row, depth) => {
				const at = y + HEAD + depth * ROW;
				if (at + ROW > 0 && at < height)
					this.bars += drawBars(g, task, row, { y: at, width, view, names, fills, isMatch });
			});
		}
	}

	/**
	 * Draws events as marks at the lower edge of the heading, at most one for each pixel.
	 * @param {CanvasRenderingContext2D} g
	 * @param {import("../model/task.js").Task} task
	 * @param {number} y
	 * @param {number} width
	 */
	#drawPoints(g, task, y, width) {
		const { from, to } = this.app.zoom, scale = width / (to - from);
		const { pointTime, pointText, pointKind } = task, hidden = this.app.hiddenKinds;
		const { texts } = this.app.search, { event } = this.app;
		const mark = (/** @type {number} */ x, /** @type {string} */ color) => {
			g.fillStyle = color;
			g.beginPath();
			g.moveTo(x - 3, y - 10);
			g.lineTo(x + 4, y - 10);
			g.lineTo(x + 0.5, y - 3);
			g.fill();
		};
		for (let k = lowerBound(pointTime, from); k < pointTime.length;) {
			const x = Math.floor((pointTime[k] - from) * scale);
			if (x > width) break;
			const next = Math.max(k + 1, lowerBound(pointTime, from + (x + 1) / scale));
			let isShown = false, isFound = false;
			for (; k < next && !(isShown && (isFound || !texts)); k++) {
				if (hidden[pointKind[k]]) continue;
				isShown = true;
				if (texts && texts[pointText[k]]) isFound = true;
			}
			k = next;
			if (isShown) mark(x, isFound ? colors.mark : colors.accent);
		}
		if (!event || event.task !== task) return;
		const x = Math.floor((pointTime[event.at] - from) * scale);
		g.strokeStyle = colors.text;
		g.strokeRect(x - 4.5, y - 12.5, 10, 12);
	}

	/**
	 * @param {CanvasRenderingContext2D} g
	 * @param {number} width
	 */
	#drawChosen(g, width) {
		const { app } = this, { from, to } = app.zoom, scale = width / (to - from);
		const { range } = app.state;
		if (range) {
			const left = (range.from - from) * scale, right = (range.to - from) * scale;
			g.fillStyle = colors.accent;
			g.globalAlpha = 0.14;
			g.fillRect(left, 0, Math.max(1, right - left), this.canvas.clientHeight);
			g.globalAlpha = 1;
			g.fillRect(left, 0, 1, this.canvas.clientHeight);
			g.fillRect(right, 0, 1, this.canvas.clientHeight);
		}
		for (const call of [this.hovered, app.selected]) {
			const strip = call && this.strips.find((s) => !s.isFolded && s.tasks.some((t) => t === call[0]));
			if (!call || !strip) continue;
			const [task, i] = call, isSelected = call === app.selected;
			const y = strip.top - this.scroller.scrollTop + HEAD + task.depth(i) * ROW;
			const x = (task.start[i] - from) * scale;
			drawFrame(g, { x, wide: task.dur[i] * scale, y, width },
				isSelected ? colors.accent : colors.text, isSelected ? 2 : 1);
		}
	}

	/**
	 * Makes headings as elements, for screen readers and for use of the page by keyboard. The
	 * strips in or near the visible part have headings. A heading with the focus stays, even
	 * when its strip is far from the visible part.
	 * @param {import("../model/layout.js").Strip[]} near
	 */
	#putHeadings(near) {
		const active = /** @type {HTMLElement} */ (document.activeElement);
		const owner = [...this.shown.values()].find((heading) => heading.contains(active));
		const top = owner ? parseFloat(owner.style.top) : 0;
		this.#placeHeadings(this.strips.filter((strip) =>
			near.includes(strip) || (owner && this.shown.get(ownName(strip)) === owner)));
		if (!owner || document.activeElement === active) return;
		if (owner.isConnected) { active.focus({ preventScroll: true }); return; }
		const next = near.find((strip) => strip.bottom > top) || near[near.length - 1];
		const heading = next && this.shown.get(ownName(next));
		(heading?.querySelector("button") || this.scroller).focus({ preventScroll: true });
	}

	/** @param {import("../model/layout.js").Strip[]} seen */
	#placeHeadings(seen) {
		const keys = new Set(seen.map(ownName));
		for (const [key, heading] of this.shown)
			if (!keys.has(key)) { heading.remove(); this.shown.delete(key); }
		/** @type {HTMLElement | null} */
		let before = null;
		for (const strip of seen) {
			let heading = this.shown.get(ownName(strip));
			if (!heading) {
				heading = this.#makeHeading(strip);
				this.shown.set(ownName(strip), heading);
			}
			heading.style.top = `${strip.top}px`;
			// "marked" leaves room for marks of events below the heading's text.
			heading.classList.toggle("marked", strip.tasks.some((task) => task.pointTime.length > 0));
			const toggle = /** @type {HTMLElement} */ (heading.firstChild);
			toggle.setAttribute("aria-expanded", String(!strip.isFolded));
			/** @type {ChildNode | null} */
			const next = before ? before.nextSibling : this.headings.firstChild;
			if (next !== heading) this.headings.insertBefore(heading, next);
			before = heading;
		}
	}

	/** @param {import("../model/layout.js").Strip} strip */
	#makeHeading(strip) {
		const { state } = this.app, heading = element("div", { class: `heading ${strip.kind}` });
		const toggle = element("button", {
			class: "toggle", "aria-expanded": true, click: () => this.toggle(strip.key),
		}, element("b", {}, strip.title), ` ${strip.about}`);
		heading.append(toggle);
		if (strip.kind === "process") return heading;
		const tids = strip.tasks.map((task) => task.tid);
		const flip = (/** @type {Set<number>} */ set) => {
			const made = new Set(set), isIn = made.has(tids[0]);
			for (const tid of tids) if (isIn) made.delete(tid); else made.add(tid);
			return made;
		};
		heading.append(
			element("button", {
				class: "small", "aria-label": `Hide ${strip.title}`,
				click: () => this.app.change({ hidden: flip(this.app.state.hidden) }),
			}, "Hide"),
			element("button", {
				class: "small", "aria-label": `Pin ${strip.title}`,
				"aria-pressed": String(state.pinned.has(tids[0])),
				click: (event) => {
					this.app.change({ pinned: flip(this.app.state.pinned) });
					const isPinned = this.app.state.pinned.has(tids[0]);
					event.currentTarget.setAttribute("aria-pressed", String(isPinned));
				},
			}, "Pin"));
		return heading;
	}

	/** Removes the headings, whose texts are not valid any more. */
	forgetHeadings() {
		this.headings.replaceChildren();
		this.shown.clear();
	}

	/** @param {string} key */
	toggle(key) {
		if (!this.folded.delete(key)) this.folded.add(key);
		this.app.tell("draw");
	}

	isAllFolded() {
		return this.strips.every((strip) => strip.kind !== "task" || strip.isFolded);
	}

	/**
	 * Expands all tasks if isFolded is true. Otherwise collapses all tasks.
	 * @param {boolean} isFolded true when all tasks of all timelines are collapsed
	 */
	toggleAll(isFolded) {
		const tasks = this.strips.filter((strip) => strip.kind === "task");
		for (const { key } of tasks) if (isFolded) this.folded.delete(key); else this.folded.add(key);
		this.app.tell("draw");
	}

	/** Scrolls to the selected call or event. */
	scrollToSelected() {
		const call = this.app.selectedCall, task = call ? call[0] : this.app.event?.task;
		if (!task) return;
		this.layOut();
		const strip = this.strips.find((s) => s.tasks.includes(task));
		if (!strip) return;
		if (call && strip.isFolded) { this.folded.delete(strip.key); this.layOut(); }
		const y = strip.top + (call ? HEAD + task.depth(call[1]) * ROW : 0);
		const high = this.scroller.clientHeight, { scrollTop } = this.scroller;
		if (y < scrollTop || y + ROW > scrollTop + high) this.scroller.scrollTop = y - high / 2;
	}

	/**
	 * Finds the call or the event at a place of the canvas.
	 * @param {{ x: number, y: number }} place
	 */
	find({ x, y }) {
		const { from, to } = this.app.zoom, scale = this.canvas.clientWidth / (to - from);
		const at = y + this.scroller.scrollTop, time = from + x / scale;
		const strip = this.strips.find((s) => at >= s.top && at < s.bottom);
		if (!strip) return {};
		const depth = Math.floor((at - strip.top - HEAD) / ROW);
		for (const task of strip.tasks) {
			if (depth < 0) {
				const point = nearestPoint(task, time, 4 / scale, this.app.hiddenKinds);
				if (point >= 0) return { task, point };
			}
			const row = strip.isFolded ? undefined : task.rows[depth], slack = 1.5 / scale;
			const k = row ? firstEnding(task, row, time - slack, 0) : 0;
			if (row && k < row.length && task.start[row[k]] <= time + slack)
				return { call: /** @type {import("../model/task.js").Call} */ ([task, row[k]]) };
		}
		return {};
	}

	/** @param {{ x: number, y: number }} place */
	callAt(place) { return this.find(place).call || null; }

	/** @param {MouseEvent} event */
	#choose(event) {
		const { call, task, point } = this.find(pointIn(this.canvas, event));
		if (task && point !== undefined) this.app.selectEvent({ task, at: point });
		else this.app.select(call || null);
	}

	/** Shows the tip again, with the texts that have arrived since the tip was last shown. */
	renewTip() { if (this.pointer) this.#hover(this.pointer); }

	/** @param {PointerEvent} event */
	#hover(event) {
		this.pointer = event;
		const { call, task, point } = this.find(pointIn(this.canvas, event)), { recording } = this.app;
		const old = this.hovered;
		this.hovered = call || null;
		if (old?.[0] !== call?.[0] || old?.[1] !== call?.[1]) this.app.tell("draw");
		this.canvas.style.cursor = call ? "pointer" : "default";
		if (task && point !== undefined) {
			const at = timeText(task.pointTime[point] - recording.meta.zero);
			showTip(event, recording.text(task.pointText[point]), `at ${at}`);
		} else if (call) {
			const d = describe(this.app, call);
			showTip(event, d.name + d.text, `took ${d.took}, itself ${d.self}`, `at ${d.start}, ${d.task}`);
		} else {
			hideTip();
		}
	}
}
