/** Finds and adds events of tasks. Each event has a kind and a time, but no duration. */
import { lowerBound } from "./task.js";

/**
 * @typedef {object} Kind a name of events, and how many events have this name
 * @property {string} name
 * @property {number} count
 */

/**
 * An event: its task, and its index in the arrays of the task's events.
 * @typedef {{ task: import("./task.js").Task, at: number }} PointOf
 */

/**
 * Returns the index of the shown event that is nearest to a time, or -1 if no shown event is within
 * slack of the time.
 * @param {import("./task.js").Task} task
 * @param {number} time
 * @param {number} slack
 * @param {Uint8Array} hidden has a number for each kind of events; 0: events of this kind are shown
 */
export function nearestPoint({ pointTime, pointKind }, time, slack, hidden) {
	const first = lowerBound(pointTime, time);
	let after = first, before = first - 1;
	while (after < pointTime.length && hidden[pointKind[after]]) after++;
	while (before >= 0 && hidden[pointKind[before]]) before--;
	const late = after < pointTime.length ? pointTime[after] - time : Infinity;
	const early = before >= 0 ? time - pointTime[before] : Infinity;
	if (Math.min(late, early) > slack) return -1;
	return late < early ? after : before;
}

/**
 * Returns the index of an event in its task. Adds the event if the task does not have it.
 * @param {import("./task.js").Task} task
 * @param {{ time: number, kind: number, depth: number, text: number }} event
 */
export function placeOf(task, { time, kind, depth, text }) {
	const { pointTime, pointKind, pointDepth, pointText } = task;
	let at = lowerBound(pointTime, time);
	for (; pointTime[at] === time; at++) if (pointDepth[at] === depth) return at;
	const add = (/** @type {ArrayLike<number>} */ all, /** @type {number} */ one) => {
		const made = Array.from(all);
		made.splice(at, 0, one);
		return made;
	};
	task.pointTime = Float64Array.from(add(pointTime, time));
	task.pointKind = Uint32Array.from(add(pointKind, kind));
	task.pointDepth = Uint32Array.from(add(pointDepth, depth));
	task.pointText = Float64Array.from(add(pointText, text));
	return at;
}

/**
 * Returns the next wanted event after @from in the order of time. If step is -1, returns the
 * previous wanted event before @from. The search wraps around.
 * @param {import("./task.js").Task[]} tasks
 * @param {PointOf | null} from
 * @param {1 | -1} step
 * @param {(task: import("./task.js").Task, at: number) => boolean} isWanted
 * @returns {PointOf | null}
 */
export function nextPoint(tasks, from, step, isWanted) {
	/** @type {PointOf | null} */
	let best = null;
	const time = from ? from.task.pointTime[from.at] : 0;
	const isBefore = (/** @type {PointOf} */ a, /** @type {PointOf} */ b) =>
		(a.task.pointTime[a.at] - b.task.pointTime[b.at] || a.task.index - b.task.index) * step < 0;
	for (const task of tasks) {
		const { pointTime } = task;
		let at = step > 0 ? 0 : pointTime.length - 1;
		if (from && task === from.task) at = from.at + step;
		else if (from) {
			at = lowerBound(pointTime, time + (task.index < from.task.index ? 1 : 0));
			if (step < 0) at--;
		}
		while (at >= 0 && at < pointTime.length && !isWanted(task, at)) at += step;
		if (at < 0 || at >= pointTime.length) continue;
		if (!best || isBefore({ task, at }, best)) best = { task, at };
	}
	return best || (from ? nextPoint(tasks, null, step, isWanted) : null);
}

/**
 * Returns the index of the innermost call that @task has open at the time @time, or -1.
 * @param {import("./task.js").Task} task
 * @param {number} time
 */
export function innermostAt(task, time) {
	let i = task.firstAt(time + 1) - 1;
	while (i >= 0 && task.end(i) < time) i = task.parent(i);
	return i;
}
