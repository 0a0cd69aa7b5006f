/** The line at the bottom: details of the selected call, event or process. */
import { byId, element } from "../ui/element.js";
import { timeText } from "../model/text.js";
import { innermostAt } from "../model/events.js";

/**
 * The advice for a view in which nothing is selected.
 * @type {Record<import("../state/state.js").ViewName, string>}
 */
const HINTS = {
	timeline: "Click a call for its details, double click to zoom to it."
		+ " Scroll to zoom, drag to move, shift and drag to choose a range.",
	flame: "Click a box to zoom to it, one above it to see more again.",
	functions: "Click a function to choose it, a heading to sort by it.",
	processes: "Click a program for its details, double click to zoom to it."
		+ " Scroll to zoom, drag to move, shift and drag to choose a range.",
};

/**
 * @param {import("../model/recording.js").Execution} e
 */
export const endingOf = (e) =>
	(e.signal ? `signal ${e.signal}` : e.status !== undefined ? `status ${e.status}` : "");

/** @param {import("../model/recording.js").Execution} e */
export const commandOf = (e) => (e.name.startsWith("fork") ? e.name : e.command || e.name);

/**
 * @param {import("../state/app.js").App} app
 * @param {number} i
 */
function describeExecution({ recording }, i) {
	const { lanes, meta } = recording, e = meta.executions[i], ending = endingOf(e);
	return {
		name: commandOf(e), text: "", func: "", source: "",
		took: timeText(e.dur) + (ending ? `, ${ending}` : ""), self: timeText(lanes.own[i]),
		start: timeText(e.start - meta.zero), task: `process ${e.pid}${e.cwd ? ` of ${e.cwd}` : ""}`,
		caller: e.parent === undefined ? "" : meta.executions[e.parent].name, by: "made by",
	};
}

/**
 * Returns the text about a call.
 * @param {import("../state/app.js").App} app
 * @param {import("../state/app.js").Bar} call
 */
export function describe(app, [task, i]) {
	const { names, meta } = app.recording;
	if (!("ctx" in task)) return describeExecution(app, i);
	const text = task.text && task.text[i] ? app.recording.text(task.text[i]) : "";
	const caller = task.caller(i), func = names[task.func(i)];
	return {
		name: func, text, func: app.apps.length > 1 ? func : app.recording.keys[task.func(i)],
		took: timeText(task.dur[i]) + (task.open.has(i) ? ", did not return" : ""),
		self: timeText(task.self(i)), start: timeText(task.start[i] - meta.zero),
		source: app.recording.sources.place(task.func(i)),
		task: `${task.name} ${task.tid}`, caller: caller < 0 ? "" : names[caller], by: "called by",
	};
}

/**
 * @param {string} word
 * @param {string} value
 */
const part = (word, value) => element("span", {}, `${word} `, element("i", {}, value));
/**
 * @param {string} text
 * @param {() => void} click
 */
const button = (text, click) => element("button", { class: "tool", click }, text);

/**
 * Returns the details of an event: its text, its time, and the call around it.
 * @param {import("../state/app.js").App} app
 * @param {import("../model/events.js").PointOf} event
 * @returns {Node[]}
 */
function eventDetails(app, { task, at }) {
	const { recording } = app, time = task.pointTime[at], kind = task.pointKind[at];
	const call = innermostAt(task, time);
	return [element("b", {}, recording.text(task.pointText[at])),
		part("at", timeText(time - recording.meta.zero)), part("in", `${task.name} ${task.tid}`),
		...(call < 0 ? [] : [part("within", recording.names[task.func(call)])]),
		element("span", { class: "buttons" },
			button("Previous event", () => app.goEvent(-1, kind)),
			button("Next event", () => app.goEvent(1, kind)),
			...(call < 0 ? [] : [button("Call", () => app.reveal([task, call]))]))];
}

/**
 * Returns the details of the selection, or no details in views that do not show the selection.
 * @param {import("../state/app.js").App} app
 * @returns {Node[]}
 */
function detailsOf(app) {
	if (app.event && app.state.view === "timeline") return eventDetails(app, app.event);
	const isCall = app.selected !== null && "ctx" in app.selected[0];
	if (!app.selected || app.state.view !== (isCall ? "timeline" : "processes")) return [];
	const d = describe(app, app.selected);
	const made = [element("b", {}, d.name + d.text), part("took", d.took),
		part("itself", d.self), part("at", d.start), part("in", d.task)];
	if (d.caller) made.push(part(d.by, d.caller));
	if (d.source) made.push(part("from", d.source));
	if (!d.func) return made;
	made.push(element("span", { class: "buttons" },
		button("Previous call", () => app.goSame(-1)), button("Next call", () => app.goSame(1)),
		button("Function", () => app.change({ func: d.func, view: "functions" }, "push"))));
	return made;
}

/** @param {import("../state/app.js").App} app */
function hintOf({ apps, state, hasProcesses }) {
	// If a server sends the recording in parts, the number of calls is not known at first.
	const hasCalls = apps.some(({ recording: { calls, meta } }) => calls || meta.served === "parts");
	if (hasCalls || state.view === "processes") return HINTS[state.view];
	return `No calls were recorded.${hasProcesses ? " See Processes for the programs that ran." : ""}`;
}

/** @param {import("../state/app.js").App} app */
export function showDetails(app) {
	const made = app.apps.map(detailsOf), box = byId("details"), isTwo = made.length > 1;
	if (made.some((nodes) => nodes.length))
		box.replaceChildren(...made.flatMap((nodes, k) => (isTwo && nodes.length
			? [element("div", { class: "line" }, element("span", {}, k ? "New:" : "Base:"), ...nodes)] : nodes)));
	else
		box.replaceChildren(element("span", {}, hintOf(app)));
}
