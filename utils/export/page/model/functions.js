/** Adds up the calls and times of each function. Finds the callers and callees of a function. */
import { sumTask } from "./sums.js";

/**
 * @typedef {object} FunctionRow
 * @property {number} func
 * @property {string} name
 * @property {number} total ns
 * @property {number} self ns
 * @property {number} calls
 * @property {number} average ns
 * @property {number} longest ns
 */

/**
 * The sums of several tasks.
 * @typedef {{ task: import("./task.js").Task, sums: import("./sums.js").NodeSums }[]} TaskSums
 */

/**
 * @param {import("./recording.js").Recording} recording
 * @param {import("./recording.js").Range | null} range
 * @returns {TaskSums}
 */
export function sumTasks(recording, range) {
	const part = recording.isWhole(range) ? null : range;
	return recording.tasks.filter((task) => task.isLoaded)
		.map((task) => ({ task, sums: sumTask(task, part, recording.isWait) }));
}

/**
 * @param {number} func
 * @param {string} name
 * @returns {FunctionRow}
 */
const makeRow = (func, name) =>
	({ func, name, total: 0, self: 0, calls: 0, average: 0, longest: 0 });

/**
 * Returns the functions that were called, in no particular order.
 * @param {import("./recording.js").Recording} recording
 * @param {TaskSums} all
 */
export function functionRows(recording, all) {
	const rows = recording.names.map((name, func) => makeRow(func, name));
	for (const { task, sums } of all) {
		for (let node = 1; node < task.tree.nr; node++) {
			const row = rows[task.tree.func[node]];
			row.calls += sums.calls[node];
			row.total += sums.total[node];
			row.self += sums.self[node];
			row.longest = Math.max(row.longest, sums.longest[node]);
		}
	}
	for (const row of rows) row.average = row.calls ? row.total / row.calls : 0;
	return rows.filter((row) => row.calls);
}

/**
 * Returns the callers of a function and the functions that it calls, sorted by total time.
 * @param {import("./recording.js").Recording} recording
 * @param {TaskSums} all
 * @param {number} func
 */
export function relatives(recording, all, func) {
	/** @type {Map<number, FunctionRow>} */
	const callers = new Map();
	/** @type {Map<number, FunctionRow>} */
	const callees = new Map();
	/**
	 * @param {Map<number, FunctionRow>} rows
	 * @param {number} other
	 * @param {import("./sums.js").NodeSums} sums
	 * @param {number} node
	 */
	const add = (rows, other, sums, node) => {
		if (!sums.calls[node]) return;
		const row = rows.get(other) || makeRow(other, recording.names[other] || "");
		rows.set(other, row);
		row.calls += sums.calls[node];
		row.total += sums.total[node];
		row.self += sums.self[node];
		row.longest = Math.max(row.longest, sums.longest[node]);
	};
	for (const { task, sums } of all) {
		const { nr, func: funcs, parent } = task.tree;
		for (let node = 1; node < nr; node++) {
			if (funcs[node] === func) add(callers, funcs[parent[node]], sums, node);
			if (funcs[parent[node]] === func) add(callees, funcs[node], sums, node);
		}
	}
	const sorted = (/** @type {Map<number, FunctionRow>} */ rows) =>
		[...rows.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
	return { callers: sorted(callers), callees: sorted(callees) };
}
