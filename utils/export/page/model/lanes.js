/**
 * Finds the data of the view "Processes": the rows of the executions, the critical path, and the
 * slowest executions (doc/internals/processes.md, "Exports").
 */

/**
 * @typedef {object} Process
 * @property {number} start
 * @property {number} end
 * @property {number[]} executions
 * @property {Process[]} children
 * @property {Process | null} parent
 * @property {number} row
 * @property {[from: number, to: number][]} works the times in which none of its children existed
 */

/** @typedef {{ i: number, from: number, to: number }} PathPart */

/**
 * Executions as bars. The bars of one row do not overlap. The row of a process is below the row of
 * the parent process. A Lanes object has the members that drawBars() reads from a task, so
 * drawBars() can draw the executions.
 */
export class Lanes {
	/** @param {number} n */
	constructor(n) {
		this.n = n;
		this.start = new Float64Array(n);
		this.dur = new Float64Array(n);
		/** For each execution, how long it ran while its process had no child. */
		this.own = new Float64Array(n);
		this.onPath = new Float64Array(n);
		this.names = new Uint32Array(n);
		this.row = new Uint32Array(n);
		/** @type {Uint32Array[]} */
		this.rows = [];
		/** @type {Process[]} */
		this.processes = [];
		/**
		 * The number of working processes: `nr` processes work from `time` until the time
		 * of the next element.
		 * @type {{ time: number, nr: number }[]}
		 */
		this.levels = [];
		/** @type {PathPart[]} */
		this.path = [];
		this.most = 0;
		this.jobs = 0;
		this.slots = 0;
	}

	/** @param {number} i */
	func(i) { return this.names[i]; }
	/** @param {number} i */
	depth(i) { return this.row[i]; }
	/** @param {number} i */
	self(i) { return this.own[i]; }
	/** @param {number} i */
	end(i) { return this.start[i] + this.dur[i]; }
}

/**
 * @param {import("./recording.js").Execution[]} all
 * @param {Map<string, number>} number maps a program's name to the index in Recording.names
 */
export function makeLanes(all, number) {
	const made = new Lanes(all.length);
	addProcesses(made, all, number);
	placeProcesses(made);
	for (const p of made.processes) findWork(made, p);
	made.levels = countRunning(made.processes);
	made.path = findPath(made);
	for (const part of made.path) made.onPath[part.i] += part.to - part.from;
	made.most = made.levels.reduce((most, level) => Math.max(most, level.nr), 0);
	made.jobs = jobs(all);
	made.slots = made.jobs || made.most;
	return made;
}

/**
 * @param {Lanes} made
 * @param {import("./recording.js").Execution[]} all
 * @param {Map<string, number>} number
 */
function addProcesses(made, all, number) {
	/** @type {Map<number, Process>} */
	const processes = new Map();
	all.forEach((e, i) => {
		made.start[i] = e.start;
		made.dur[i] = e.dur;
		made.names[i] = number.get(e.name) || 0;
		let p = processes.get(e.process);
		if (!p) {
			const parent = e.parent === undefined ? null : processes.get(all[e.parent].process) || null;
			p = { start: e.start, end: 0, executions: [], children: [], parent, row: 0, works: [] };
			processes.set(e.process, p);
			if (parent) parent.children.push(p);
			made.processes.push(p);
		}
		p.executions.push(i);
		p.end = e.start + e.dur;
	});
}

/** @param {Lanes} made */
function placeProcesses(made) {
	/** @type {number[]} */
	const freeFrom = [];
	/** @type {number[][]} */
	const rows = [];
	for (const p of made.processes) {
		p.row = p.parent ? p.parent.row + 1 : 0;
		while (freeFrom[p.row] > p.start) p.row++;
		freeFrom[p.row] = p.end;
		for (const i of p.executions) {
			(rows[p.row] = rows[p.row] || []).push(i);
			made.row[i] = p.row;
		}
	}
	made.rows = Array.from(rows, (row) => Uint32Array.from(row || []));
}

/**
 * Returns the number of jobs (-j) of the outermost make or ninja.
 * @param {import("./recording.js").Execution[]} all
 */
function jobs(all) {
	const make = all.find((e) => /^(g?make|ninja|samu)$/.test(e.name));
	const given = make && /\s(?:-[a-zA-Z]*j\s*|--jobs[=\s]\s*)(\d+)/.exec(make.command);
	return given ? Number(given[1]) : 0;
}

/**
 * @param {Lanes} made
 * @param {Process} p
 */
function findWork(made, p) {
	let at = p.start;
	const add = (/** @type {number} */ to) => { if (to > at) p.works.push([at, to]); };
	for (const child of p.children) {
		add(Math.min(child.start, p.end));
		at = Math.max(at, child.end);
	}
	add(p.end);
	let k = 0;
	for (const [from, to] of p.works) {
		while (k < p.executions.length && made.end(p.executions[k]) <= from) k++;
		for (let j = k; j < p.executions.length && made.start[p.executions[j]] < to; j++) {
			const i = p.executions[j];
			made.own[i] += Math.min(to, made.end(i)) - Math.max(from, made.start[i]);
		}
	}
}

/** @param {Process[]} processes */
function countRunning(processes) {
	/** @type {[time: number, step: number][]} */
	const edges = [];
	/** @type {{ time: number, nr: number }[]} */
	const levels = [];
	for (const p of processes) for (const [from, to] of p.works) edges.push([from, 1], [to, -1]);
	edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	let nr = 0;
	for (const [time, step] of edges) {
		nr += step;
		if (levels.length && levels[levels.length - 1].time === time)
			levels[levels.length - 1].nr = nr;
		else levels.push({ time, nr });
	}
	return levels;
}

/**
 * Finds the critical path, from the end of the path to its beginning. The search in a process
 * begins at the end of the process, and goes back in time. When the search meets the end of a
 * child, the path contains this child, and the search goes on at the start of the child. At all
 * other times of the process, the path contains the process itself. The same rules apply within
 * each child on the path.
 * @param {Lanes} made
 */
function findPath(made) {
	const byEnd = (/** @type {Process[]} */ children) =>
		[...children].sort((a, b) => a.end - b.end);
	/** @type {PathPart[]} */
	const path = [];
	const roots = byEnd(made.processes.filter((p) => !p.parent));
	if (!roots.length) return path;
	/** @type {{ p: Process | null, at: number, children: Process[] }[]} */
	const stack = [{ p: null, at: roots[roots.length - 1].end, children: roots }];
	const add = (/** @type {Process | null} */ p, /** @type {number} */ from, /** @type {number} */ to) => {
		for (const i of p ? [...p.executions].reverse() : []) {
			const start = Math.max(from, made.start[i]), end = Math.min(to, made.end(i));
			const before = path[path.length - 1];
			if (end <= start) continue;
			if (before && before.i === i && before.from === end) before.from = start;
			else path.push({ i, from: start, to: end });
		}
	};
	while (stack.length) {
		const here = stack[stack.length - 1];
		let child = here.children.pop();
		while (child && child.end > here.at) child = here.children.pop();
		add(here.p, child ? child.end : here.p ? here.p.start : 0, here.at);
		if (!child) { stack.pop(); continue; }
		here.at = child.start;
		stack.push({ p: child, at: child.end, children: byEnd(child.children) });
	}
	return path.reverse();
}

/**
 * Returns the time during which fewer than lanes.slots processes worked, and the sum of the idle
 * times of all slots. A slot is room for one process, as with `make -j`.
 * @param {Lanes} lanes
 * @param {number} from
 * @param {number} to
 */
export function findIdle(lanes, from, to) {
	let some = 0, lost = 0;
	lanes.levels.forEach(({ time, nr }, k) => {
		const end = k + 1 < lanes.levels.length ? lanes.levels[k + 1].time : time;
		const dur = Math.min(end, to) - Math.max(time, from);
		if (dur <= 0 || nr >= lanes.slots) return;
		some += dur;
		lost += dur * (lanes.slots - nr);
	});
	return { some, lost };
}

/**
 * @param {Lanes} lanes
 * @param {number} time
 */
export function runningAt(lanes, time) {
	let low = 0, high = lanes.levels.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (lanes.levels[middle].time <= time) low = middle + 1;
		else high = middle;
	}
	return low ? lanes.levels[low - 1].nr : 0;
}

/**
 * Returns the ten executions that worked longest.
 * @param {Lanes} lanes
 */
export function slowestTen(lanes) {
	return [...lanes.own.keys()].sort((a, b) => lanes.own[b] - lanes.own[a] || a - b).slice(0, 10);
}
