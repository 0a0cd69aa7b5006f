/** Changes the views when a server answers requests for parts of the recording. */
import { byId } from "../ui/element.js";
import { readColors } from "../ui/colors.js";
import { kindOf, Supplier } from "../data/served.js";
import { lowerBound } from "../model/task.js";
import { placeOf } from "../model/events.js";

/**
 * Returns the index of the call with this start and depth in the task's current arrays, or -1.
 * @param {import("../model/task.js").Task} task
 * @param {number} start
 * @param {number} depth
 */
function findCall(task, start, depth) {
	for (let i = lowerBound(task.start, start); task.start[i] === start; i++)
		if (task.depth(i) === depth) return i;
	return -1;
}

/** The maximum number of functions in a request. */
const MOST_FUNCS = 2000;

/** @typedef {import("../data/served.js").Found} Place */

/** Shows a call or an event that the page does not have yet. */
class Sought {
	/**
	 * @param {import("../state/app.js").App} app
	 * @param {Supplier} supplier
	 */
	constructor(app, supplier) {
		this.app = app;
		this.supplier = supplier;
		/** @type {Place | null} */
		this.place = null;
	}

	/**
	 * @param {Uint8Array} funcs
	 * @param {1 | -1} step
	 */
	go(funcs, step) {
		const { app, supplier } = this, call = app.selectedCall;
		/** @type {number[]} */
		const wanted = [];
		funcs.forEach((is, f) => { if (is) wanted.push(f); });
		if (!wanted.length || wanted.length > MOST_FUNCS) return false;
		const from = call && {
			task: call[0].index, start: call[0].start[call[1]], depth: call[0].depth(call[1]),
		};
		supplier.search(wanted, this.place || from, step).then((place) => {
			if (place) this.#show(place);
		}).catch(() => {});
		return true;
	}

	/**
	 * @param {number[]} kinds
	 * @param {1 | -1} step
	 */
	goEvent(kinds, step) {
		const { app, supplier } = this, { event } = app;
		if (!kinds.length) return false;
		const from = event && {
			task: event.task.index, start: event.task.pointTime[event.at],
			depth: event.task.pointDepth[event.at],
		};
		supplier.search(kinds, from, step, "kinds").then((place) => {
			if (place) this.#showEvent(place);
		}).catch(() => {});
		return true;
	}

	/** @param {Place} place */
	#showEvent({ task: number, start, depth, text }) {
		const { app } = this, task = app.recording.tasks[number], { from, to } = app.zoom, half = (to - from) / 2;
		if (!task) return;
		if (app.state.view !== "timeline") app.change({ view: "timeline" }, "push");
		if (start < from || start > to) app.setZoom({ from: start - half, to: start + half });
		app.selectEvent({ task, at: placeOf(task, { time: start, kind: kindOf(depth), depth, text }) });
	}

	/** @param {Place} place */
	#show(place) {
		const { app } = this, { start, dur } = place, { from, to } = app.zoom, width = to - from;
		this.place = place;
		if (app.state.view !== "timeline") app.change({ view: "timeline" }, "push");
		// Like App.reveal(), but always changes the visible range a little. The page then
		// requests the calls of the new range.
		if (dur > width || dur < width / 400) app.setZoom({ from: start - dur * 2, to: start + dur * 3 + 20 });
		else app.setZoom({ from: start + dur / 2 - width / 2, to: start + dur / 2 + width / 2 });
		this.find();
	}

	/** Selects the call if the page has it now. */
	find() {
		const { app, place } = this, task = place && app.recording.tasks[place.task];
		const at = task ? findCall(task, place.start, place.depth) : -1;
		if (at < 0 || !task) return;
		this.place = null;
		app.select([task, at]);
	}
}

/**
 * Returns a function to be called when tasks have got new arrays. The returned function selects the
 * call that was selected before, if the new arrays have this call.
 * @param {import("../state/app.js").App} app
 * @param {import("./timeline.js").Timeline} timeline
 */
function keepSelected(app, timeline) {
	const { selected } = app;
	if (!selected || !("ctx" in selected[0])) return () => { timeline.hovered = null; };
	const [task, i] = selected, start = task.start[i], depth = task.depth(i);
	return () => {
		const at = findCall(task, start, depth);
		app.selected = at < 0 ? null : [task, at];
		timeline.hovered = null;
		app.tell("selected");
	};
}

/**
 * Returns a function to be called when tasks have got new arrays. The returned function selects the
 * event that was selected before. If many events have almost the same time, the new arrays have
 * only some of these events. If the selected event is missing, it is added to the new arrays.
 * @param {import("../state/app.js").App} app
 */
function keepEvent(app) {
	const { event } = app;
	if (!event) return () => {};
	const { task, at } = event;
	const kept = {
		time: task.pointTime[at], kind: task.pointKind[at], depth: task.pointDepth[at], text: task.pointText[at],
	};
	return () => {
		if (app.event === event) app.event = { task, at: placeOf(task, kept) };
	};
}

/**
 * Shows the view of processes if there are no calls, as in a recording by `utrail build`.
 * @param {import("../state/app.js").App} app
 */
function showProcesses(app) {
	const { recording } = app;
	if (app.selected && !("ctx" in app.selected[0]) && app.selected[0] !== recording.lanes) app.select(null);
	if (recording.lanes.n && !recording.calls && app.firstView !== "processes") {
		app.firstView = "processes";
		if (!/view=/.test(location.hash)) app.change({ view: "processes" });
	}
}

/**
 * Shows the part of the recording that the server has read, and updates the views while the server
 * reads more. The returned promise resolves when the server has read the whole recording. After
 * that, the page regularly asks the server whether the recording has grown.
 * @param {import("../state/app.js").App} app
 * @param {import("./timeline.js").Timeline} timeline
 * @param {HTMLProgressElement} progress
 * @param {() => void} showTitle
 */
export async function serveParts(app, timeline, progress, showTitle) {
	const { recording } = app, supplier = new Supplier(recording);
	recording.supplier = supplier;
	const sought = new Sought(app, supplier);
	supplier.goTo = (funcs, step) => sought.go(funcs, step);
	supplier.goToEvent = (kinds, step) => sought.goEvent(kinds, step);
	supplier.beforeFill = () => {
		const after = keepSelected(app, timeline), afterEvents = keepEvent(app);
		return () => { after(); afterEvents(); sought.find(); };
	};
	supplier.onNew = () => { app.event = null; };
	supplier.onText = () => app.tell("text");
	supplier.onProgress = (part) => {
		byId("adding").hidden = part === null;
		/** @type {HTMLProgressElement} */ (byId("adding-progress")).value = part || 0;
	};
	let turn = "";
	supplier.onAnswer = () => {
		// Headings contain the number of calls, so new data need new headings.
		const isNew = turn !== supplier.turn;
		if (isNew) timeline.forgetHeadings();
		turn = supplier.turn;
		if (recording.fills.length !== recording.names.length) readColors([recording]);
		showTitle();
		showProcesses(app);
		// Repeat the search when there are new names. After the server has read the whole
		// recording, repeat the search for each new state, because the numbers of calls
		// have changed.
		const isOld = app.search.funcs.length !== recording.names.length || (isNew && supplier.isDone);
		if (app.state.search && isOld) app.lookFor();
		app.tell("state");
	};
	supplier.onEnd = () => {
		byId("loading").textContent = "utrail show has ended: the page keeps what it has.";
		byId("loading").hidden = false;
	};
	try {
		await supplier.follow((part, failure) => {
			progress.value = part;
			if (failure) throw new Error(failure);
		});
	} catch (error) {
		if (!supplier.hasEnded) throw error;
		return;
	}
	byId("loading").hidden = true;
	supplier.watch().catch(() => {});
}
