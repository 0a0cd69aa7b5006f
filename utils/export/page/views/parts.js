/** A recording in parts on the page: what is read again and again is shown as it comes. */
import { byId } from "../ui/element.js";
import { readColors } from "../ui/colors.js";
import { Supplier } from "../data/served.js";
import { lowerBound } from "../model/task.js";

/**
 * The call of a task that began at a time, in the arrays that it has now.
 * @param {import("../model/task.js").Task} task
 * @param {number} start
 * @param {number} depth
 */
function findCall(task, start, depth) {
	for (let i = lowerBound(task.start, start); task.start[i] === start; i++)
		if (task.depth(i) === depth) return i;
	return -1;
}

/**
 * A selected call stays selected in other arrays, if it is seen there.
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
 * Follow the server's reading; resolves when all was read. Then the recording is watched.
 * @param {import("../state/app.js").App} app
 * @param {import("./timeline.js").Timeline} timeline
 * @param {HTMLProgressElement} progress
 * @param {() => void} showTitle
 */
export async function serveParts(app, timeline, progress, showTitle) {
	const { recording } = app, supplier = new Supplier(recording);
	recording.supplier = supplier;
	supplier.beforeFill = () => keepSelected(app, timeline);
	supplier.onAnswer = () => {
		if (recording.fills.length !== recording.names.length) readColors([recording]);
		showTitle();
		if (app.state.search && app.search.funcs.length !== recording.names.length) app.lookFor();
		app.tell("state");
	};
	await supplier.follow((part, failure) => {
		progress.value = part;
		if (failure) throw new Error(failure);
	});
	byId("loading").hidden = true;
	supplier.watch().catch(() => {
		byId("loading").hidden = false;
		byId("loading").textContent = "The server is gone: what is here stays.";
	});
}
