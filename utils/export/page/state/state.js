/** The part of the page's state that the page's URL contains. Users can share the URL. */
import { parseRange, parseZoom, rangeText } from "../model/range_text.js";

/** @typedef {"timeline" | "flame" | "functions" | "processes"} ViewName */
/** @typedef {"start" | "name" | "calls" | "cpu"} TaskOrder */
/**
 * The content of the flame graph, if the page has two recordings.
 * @typedef {"base" | "difference" | "new"} Shown
 */

/** @type {ViewName[]} */
export const VIEWS = ["timeline", "flame", "functions", "processes"];
/** @type {TaskOrder[]} */
const ORDERS = ["start", "name", "calls", "cpu"];
/** @type {Shown[]} */
const SHOWN = ["base", "difference", "new"];

export class State {
	/** @type {ViewName} */
	view = "timeline";
	/**
	 * The visible range.
	 * @type {import("../model/recording.js").Range | null}
	 */
	zoom = null;
	/**
	 * The range that was chosen.
	 * @type {import("../model/recording.js").Range | null}
	 */
	range = null;
	/** The chosen function. */
	func = "";
	search = "";
	/**
	 * The ids (task.tid) of the tasks that are not shown.
	 * @type {Set<number>}
	 */
	hidden = new Set();
	/**
	 * The ids (task.tid) of the tasks that are shown above the other tasks of their process.
	 * @type {Set<number>}
	 */
	pinned = new Set();
	/** @type {TaskOrder} */
	order = "start";
	hasWaits = true;
	/** @type {Shown} */
	shown = "difference";
	/**
	 * The names of the kinds whose events are not shown.
	 * @type {Set<string>}
	 */
	hiddenKinds = new Set();

	/** Sums cover this range: the chosen range if there is one, otherwise the visible range. */
	get part() { return this.range || this.zoom; }
}

/**
 * @param {State} state
 * @param {import("../model/recording.js").Recording} recording
 */
export function toFragment(state, recording) {
	/** @type {[string, string][]} */
	const parts = [["view", state.view]];
	const add = (/** @type {string} */ key, /** @type {string} */ value) => {
		if (value) parts.push([key, value]);
	};
	if (state.range) add("range", rangeText(state.range, recording));
	if (state.zoom) add("zoom", rangeText(state.zoom, recording));
	add("function", state.func);
	add("search", state.search);
	add("hidden", [...state.hidden].join(","));
	add("pinned", [...state.pinned].join(","));
	if (state.order !== "start") add("sort", state.order);
	if (!state.hasWaits) add("waits", "no");
	if (state.shown !== "difference") add("of", state.shown);
	for (const name of state.hiddenKinds) add("without", name);
	const escaped = (/** @type {string} */ text) =>
		encodeURIComponent(text).replace(/%(?:2C|7E|3A|40|2F|24)/g, decodeURIComponent);
	return parts.map(([key, value]) => `${key}=${escaped(value)}`).join("&");
}

/**
 * Returns the state that the URL fragment @fragment describes. If the fragment has no valid value
 * for a member of the state, this member has the default value.
 * @param {string} fragment
 * @param {import("../model/recording.js").Recording} recording
 * @param {ViewName} first the view if the fragment names no view
 */
export function fromFragment(fragment, recording, first) {
	const state = new State(), parts = new URLSearchParams(fragment.replace(/^#/, "").replace(/\+/g, "%2B"));
	const numbers = (/** @type {string} */ key) =>
		new Set((parts.get(key) || "").split(",").filter(Boolean).map(Number).filter(Number.isFinite));
	const view = (parts.get("view") || "").toLowerCase(), order = parts.get("sort");
	const of = parts.get("of");
	// A fragment may have a tab's label, "Flame graph", in place of the view's name, "flame".
	state.view = VIEWS.find((name) => view.startsWith(name)) || first;
	state.order = ORDERS.find((name) => name === order) || "start";
	state.range = parseRange(parts.get("range") || "", recording);
	state.zoom = parseZoom(parts.get("zoom") || "", recording);
	state.func = parts.get("function") || "";
	state.search = parts.get("search") || "";
	state.hidden = numbers("hidden");
	state.pinned = numbers("pinned");
	state.shown = SHOWN.find((name) => name === of) || "difference";
	state.hasWaits = parts.get("waits") !== "no";
	state.hiddenKinds = new Set(parts.getAll("without"));
	return state;
}
