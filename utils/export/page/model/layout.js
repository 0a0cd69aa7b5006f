/**
 * The layout of the timeline: the tasks of each process are together. Short threads share lines.
 */
import { count } from "./text.js";

/** Heights in pixels. ROW: a level of calls. HEAD: a heading. GAP: the gap between two tasks. */
export const ROW = 18, HEAD = 24;
const GAP = 8;
/** Short threads share lines only in a process with more threads than this. */
const MANY = 12;
/** A thread is short when it exists for less than this fraction of the recording. */
const SHORT = 0.1;

/**
 * @typedef {object} Strip
 * @property {"process" | "task"} kind
 * @property {string} key
 * @property {import("./task.js").Task[]} tasks that the strip shows; empty if the kind is "process"
 * @property {string} title
 * @property {string} about
 * @property {boolean} isFolded
 * @property {number} top upper edge, in pixels below the top of the first strip
 * @property {number} bottom lower edge, in pixels below the top of the first strip
 */

/**
 * Puts short threads into few lines. The threads of a line do not overlap in time.
 * @param {import("./task.js").Task[]} tasks
 * @param {number} length of the recording in ns
 * @param {Set<number>} pinned
 */
export function packTasks(tasks, length, pinned) {
	if (tasks.length <= MANY) return tasks.map((task) => [task]);
	/** @type {import("./task.js").Task[][]} */
	const lines = [];
	/** @type {import("./task.js").Task[][]} */
	const shared = [];
	for (const task of [...tasks].sort((a, b) => a.info.start - b.info.start)) {
		const isShort = task.info.end - task.info.start < length * SHORT && !pinned.has(task.tid);
		const line = isShort && shared.find((l) => l[l.length - 1].info.end <= task.info.start);
		if (line) { line.push(task); continue; }
		const own = [task];
		lines.push(own);
		if (isShort) shared.push(own);
	}
	return lines;
}

/** @type {Record<string, (line: import("./task.js").Task[]) => number | string>} */
const KEYS = {
	start: (line) => line[0].info.start,
	name: (line) => line[0].name,
	calls: (line) => -line.reduce((sum, task) => sum + task.info.calls, 0),
	cpu: (line) => -line.reduce((sum, task) => sum + task.cpu, 0),
};

/**
 * @param {import("./task.js").Task[][]} lines
 * @param {string} order
 * @param {Set<number>} pinned
 */
function sortLines(lines, order, pinned) {
	const key = KEYS[order], isPinned = (/** @type {import("./task.js").Task[]} */ line) =>
		(pinned.has(line[0].tid) ? 0 : 1);
	return lines.sort((a, b) => {
		const first = key(a), second = key(b), diff = isPinned(a) - isPinned(b);
		return diff || (first < second ? -1 : first > second ? 1 : a[0].index - b[0].index);
	});
}

/** @param {import("./task.js").Task[]} line */
function describeLine(line) {
	const [task] = line, calls = count(line.reduce((sum, t) => sum + t.info.calls, 0), "call");
	const many = line.length > 1 ? `${line.length} threads` : "";
	const one = `${task.tid === task.pid ? "process" : "thread"} ${task.tid}`;
	return { title: task.name, about: `${many || one}, ${calls}` };
}

/**
 * @param {import("./recording.js").Recording} recording
 * @param {{ hidden: Set<number>, pinned: Set<number>, order: string }} state
 * @param {Set<string>} folded the keys of collapsed strips
 */
export function layOut({ tasks, first, last }, { hidden, pinned, order }, folded) {
	/** @type {Map<number, import("./task.js").Task[]>} */
	const processes = new Map();
	for (const task of tasks) {
		if (hidden.has(task.tid)) continue;
		const own = processes.get(task.pid);
		if (own) own.push(task);
		else processes.set(task.pid, [task]);
	}
	let y = 0;
	/** @type {Strip[]} */
	const strips = [];
	const hasHeads = processes.size > 1 && tasks.length > processes.size;
	const groups = [...processes.entries()].map(([pid, own]) =>
		({ pid, own, lines: sortLines(packTasks(own, last - first, pinned), order, pinned) }));
	const key = KEYS[order];
	groups.sort((a, b) => {
		const one = key(a.own), other = key(b.own);
		return one < other ? -1 : one > other ? 1 : a.pid - b.pid;
	});
	for (const { pid, own, lines } of groups) {
		const head = `process ${pid}`, isFolded = hasHeads && folded.has(head);
		if (hasHeads) {
			const title = `Process ${pid}`, about = `${own[0].name}, ${count(own.length, "thread")}`;
			strips.push({
				kind: "process", key: head, tasks: [], title, about, isFolded, top: y, bottom: y + HEAD,
			});
			y += HEAD;
		}
		for (const line of isFolded ? [] : lines) {
			const name = `task ${line[0].index}`, isShut = folded.has(name);
			const rows = isShut ? 0 : line.reduce((most, task) => Math.max(most, task.rows.length), 0);
			const bottom = y + HEAD + rows * ROW + GAP;
			strips.push({
				kind: "task", key: name, tasks: line, ...describeLine(line), isFolded: isShut,
				top: y, bottom,
			});
			y = bottom;
		}
	}
	return strips;
}
