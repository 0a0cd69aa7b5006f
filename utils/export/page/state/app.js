/** The class App: views use the recording, the state and the actions of a page through an App. */
import { fromFragment, State, toFragment } from "./state.js";
import { fitZoom } from "../model/range_text.js";
import { Search } from "../model/search.js";
import { pause } from "../data/load.js";
import { nextPoint } from "../model/events.js";

/** @typedef {import("../model/task.js").Task | import("../model/lanes.js").Lanes} BarTask */
/** @typedef {[task: BarTask, index: number]} Bar a call, or an execution */

/** App.change() with "replace" updates the page's address after this number of milliseconds. */
const SETTLE_MS = 250;

/** The data that all recordings of a page share. */
class Shared {
	/** @param {State} state */
	constructor(state) {
		this.state = state;
		/**
		 * The App of each recording.
		 * @type {App[]}
		 */
		this.apps = [];
		/** @type {((what: "draw" | "state" | "selected" | "search" | "text") => void)[]} */
		this.listeners = [];
		this.timer = 0;
		/**
		 * The App in which a call, an execution or an event was selected last. Null before the
		 * first selection.
		 * @type {App | null}
		 */
		this.active = null;
	}
}

export class App {
	/**
	 * @param {import("../model/recording.js").Recording} recording
	 * @param {App | null} beside null for the page's first App. Otherwise an earlier App of the
	 * page, with which the new App shares one state
	 */
	constructor(recording, beside = null) {
		this.recording = recording;
		/**
		 * The view that the page shows first if the page's URL names no view. Later, the page
		 * shows this view again when the URL has no fragment. A recording by `utrail build` has
		 * processes but no calls, so the first view shows the processes.
		 * @type {import("./state.js").ViewName}
		 */
		this.firstView = recording.meta.dir !== undefined ? "flame"
			: recording.lanes.n && !recording.calls ? "processes" : "timeline";
		/** @type {Shared} */
		this.shared = beside ? beside.shared
			: new Shared(fromFragment(location.hash, recording, this.firstView));
		this.shared.apps.push(this);
		this.search = new Search(recording, "");
		/** True until all calls have been read, or until reading has failed. */
		this.isReading = true;
		/** True while a search is not complete. */
		this.isLooking = false;
		/** @type {Bar | null} */
		this.selected = null;
		/**
		 * The selected event. If there is one, no call is selected.
		 * @type {import("../model/events.js").PointOf | null}
		 */
		this.event = null;
		this.hiddenOf = new Set();
		this.kindsOf = recording.kinds;
		this.hidden = new Uint8Array(recording.kinds.length);
		/** The number, counted from 1, of the match that go() has selected; 0: none. */
		this.place = 0;
	}

	get state() { return this.shared.state; }
	/** The App of each recording of the page. */
	get apps() { return this.shared.apps; }
	/** True when the page shows processes. A page of several recordings shows none. */
	get hasProcesses() { return this.recording.lanes.n > 0 && this.apps.length === 1; }
	get active() { return this.shared.active || this.shared.apps[0]; }

	/**
	 * Tells views what has changed. "draw": the picture must be drawn again. "text": requested
	 * texts were received.
	 * @param {"draw" | "state" | "selected" | "search" | "text"} what
	 */
	tell(what) { for (const listener of this.shared.listeners) listener(what); }

	/** An array with an element for each kind of events: 1 if this kind is not shown. */
	get hiddenKinds() {
		const { hiddenKinds } = this.state, { kinds } = this.recording;
		if (hiddenKinds !== this.hiddenOf || kinds !== this.kindsOf) {
			this.hidden = Uint8Array.from(kinds, ({ name }) => (hiddenKinds.has(name) ? 1 : 0));
			this.hiddenOf = hiddenKinds;
			this.kindsOf = kinds;
		}
		return this.hidden;
	}

	get all() { return { from: this.recording.first, to: this.recording.last }; }
	get zoom() { return this.state.zoom || this.all; }

	/**
	 * Changes the state. With "push", the browser's "back" leads to the state before the
	 * change.
	 * @param {Partial<State>} change
	 * @param {"push" | "replace"} how
	 */
	change(change, how = "replace") {
		clearTimeout(this.shared.timer);
		if (how === "push") this.#write("replace");
		Object.assign(this.state, change);
		if (how === "push") this.#write("push");
		else this.shared.timer = window.setTimeout(() => this.#write("replace"), SETTLE_MS);
		for (const app of this.apps)
			if (app.event && app.hiddenKinds[app.event.task.pointKind[app.event.at]]) app.event = null;
		if ("search" in change) for (const app of this.apps) app.lookFor();
		this.tell("state");
		this.tell("draw");
	}

	/** @param {"push" | "replace"} how */
	#write(how) {
		const fragment = `#${toFragment(this.state, this.recording)}`;
		if (fragment === location.hash) return;
		if (how === "push") history.pushState(null, "", fragment);
		else history.replaceState(null, "", fragment);
	}

	/** Takes the state from the address, after the user has typed an address or gone "back". */
	readAddress() {
		const before = this.state.search;
		clearTimeout(this.shared.timer);
		const view = location.hash ? this.state.view : this.firstView;
		this.shared.state = fromFragment(location.hash, this.recording, view);
		if (this.state.search !== before) for (const app of this.apps) app.lookFor();
		this.tell("state");
		this.tell("draw");
	}

	/** Searches for the text state.search: first in names, then in other texts. */
	async lookFor() {
		const search = new Search(this.recording, this.state.search);
		this.search = search;
		this.place = 0;
		this.isLooking = search.isOn && this.recording.textBlocks.length > 0;
		if (search.isOn && this.selected && !search.has(...this.selected)) this.select(null);
		this.tell("search");
		await search.look(pause, () => search !== this.search);
		if (search !== this.search) return;
		this.isLooking = false;
		this.tell("search");
		this.tell("draw");
	}

	/**
	 * @param {import("../model/recording.js").Range} range
	 * @param {"push" | "replace"} [how] see change()
	 */
	setZoom(range, how = "replace") { this.change({ zoom: fitZoom(range, this.recording) }, how); }

	/**
	 * @param {number} factor below 1: closer
	 * @param {number} [at] the time that stays at its place on the screen
	 */
	zoomBy(factor, at = (this.zoom.from + this.zoom.to) / 2) {
		const { from, to } = this.zoom;
		this.setZoom({ from: at - (at - from) * factor, to: at + (to - at) * factor });
	}

	/** @param {number} part of the visible range */
	pan(part) {
		const { from, to } = this.zoom, step = (to - from) * part;
		this.setZoom({ from: from + step, to: to + step });
	}

	/** @param {Bar} call */
	zoomTo([task, i]) {
		const dur = Math.max(task.dur[i], 1);
		this.setZoom({ from: task.start[i] - dur * 0.05, to: task.start[i] + dur * 1.05 }, "push");
	}

	/** @param {Bar | null} call */
	select(call) {
		this.selected = call;
		this.event = null;
		if (call) this.shared.active = this;
		this.tell("selected");
		this.tell("draw");
	}

	/** @param {import("../model/events.js").PointOf} event */
	selectEvent(event) {
		this.select(null);
		this.event = event;
		this.shared.active = this;
		this.tell("selected");
	}

	/**
	 * Goes to the next or the previous shown event of a kind. Without a kind, goes to a shown
	 * event that matches the search.
	 * @param {1 | -1} step
	 * @param {number} [kind]
	 */
	goEvent(step, kind) {
		const { hiddenKinds, search: { texts, perKind } } = this, { supplier } = this.recording;
		if (supplier) {
			const found = kind === undefined ? [...perKind.keys()].filter((k) => perKind[k]) : [kind];
			supplier.goToEvent(found.filter((k) => !hiddenKinds[k]), step);
			return;
		}
		const event = nextPoint(this.recording.tasks, this.event, step, (task, at) =>
			!hiddenKinds[task.pointKind[at]] && (kind === undefined
				? Boolean(texts && texts[task.pointText[at]]) : task.pointKind[at] === kind));
		if (!event) return;
		const time = event.task.pointTime[event.at], { from, to } = this.zoom, half = (to - from) / 2;
		if (this.state.view !== "timeline") this.change({ view: "timeline" }, "push");
		if (time < from || time > to) this.setZoom({ from: time - half, to: time + half });
		this.selectEvent(event);
	}

	/**
	 * Selects a call. If the visible range does not contain the whole call, or if the call is very
	 * short in this range, changes the visible range.
	 * @param {Bar} call
	 */
	reveal(call) {
		const [task, i] = call, { from, to } = this.zoom, width = to - from;
		const start = task.start[i], dur = task.dur[i];
		if (dur > width || dur < width / 400) this.setZoom({ from: start - dur * 2, to: start + dur * 3 });
		else if (start < from || start + dur > to)
			this.setZoom({ from: start + dur / 2 - width / 2, to: start + dur / 2 + width / 2 });
		this.select(call);
	}

	/**
	 * Goes to the next or the previous match.
	 * @param {1 | -1} step
	 */
	go(step) {
		if (!this.search.isOn || this.recording.supplier?.goTo(this.search.funcs, step)) return;
		if (this.state.view === "processes") { this.#goExecution(step); return; }
		if (!this.search.calls) { this.goEvent(step); return; }
		const call = this.search.next(this.selectedCall, step);
		if (!call) return;
		this.place = this.search.place(call);
		if (this.state.view !== "timeline") this.change({ view: "timeline" }, "push");
		this.reveal(call);
		this.tell("search");
	}

	/** @param {1 | -1} step */
	#goExecution(step) {
		const { lanes } = this.recording, n = lanes.n;
		const at = this.selected && this.selected[0] === lanes ? this.selected[1] : step > 0 ? -1 : n;
		for (let k = 1; k <= n; k++) {
			const i = (at + step * k + n * 2) % n;
			if (!this.search.has(lanes, i)) continue;
			this.reveal([lanes, i]);
			return;
		}
	}

	/**
	 * Goes to the next or the previous call of the selected call's function.
	 * @param {1 | -1} step
	 */
	goSame(step) {
		const call = this.selectedCall, { supplier, names } = this.recording;
		if (!call) return;
		const func = call[0].func(call[1]), same = Uint8Array.from(names, (_, f) => Number(f === func));
		if (supplier?.goTo(same, step)) return;
		const next = this.nextOf(func, step);
		if (next) this.reveal(next);
	}

	/** @returns {import("../model/task.js").Call | null} */
	get selectedCall() {
		const { selected } = this;
		return selected && "ctx" in selected[0]
			? /** @type {import("../model/task.js").Call} */ (selected) : null;
	}

	/**
	 * Searches from the selected call. Returns the next or the previous call of a function.
	 * @param {number} func
	 * @param {1 | -1} step
	 */
	nextOf(func, step) {
		const same = new Search(this.recording, "");
		same.funcs[func] = 1;
		return same.next(this.selectedCall, step);
	}
}
