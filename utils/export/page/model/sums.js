/** Adds up the calls of a task: the calls in a range of time, or all calls. */
import { lowerBound } from "./task.js";

/**
 * @typedef {object} NodeSums arrays with an element for each node of the task's tree
 * @property {Float64Array} calls
 * @property {Float64Array} total the total time; a call that is nested in a call of the same
 * function adds nothing. In the sums of a range, this rule holds if both calls began in the range
 * @property {Float64Array} self
 * @property {Float64Array} longest
 */

/** @param {number} nr the number of nodes */
function makeSums(nr) {
	return {
		calls: new Float64Array(nr), total: new Float64Array(nr),
		self: new Float64Array(nr), longest: new Float64Array(nr),
	};
}

/**
 * Returns the sums of all calls of a task.
 * @param {import("./task.js").Task} task
 * @returns {NodeSums}
 */
function sumAll(task) {
	const { nr, parent } = task.tree, { calls, total, longest } = task.sums;
	const self = total.slice();
	for (let node = 1; node < nr; node++) self[parent[node]] -= total[node];
	return { calls, longest, self, total: total.map((ns, node) => (task.isOuter[node] ? ns : 0)) };
}

/**
 * Returns the calls that began before a range and end at its beginning or later, the outermost
 * first.
 * @param {import("./task.js").Task} task
 * @param {number} from
 */
export function openAt(task, from) {
	const open = [];
	for (let i = task.firstAt(from) - 1; i >= 0; i = task.parent(i))
		if (task.end(i) >= from) open.push(i);
	return open.reverse();
}

/**
 * Counts the calls that were entered or left in the range, as `report -r` does. If a call is open
 * at the range's beginning, its time begins at the first entry or exit of any call in the range. If
 * a call is open at the range's end, its time ends at the last event in the range.
 *
 * Some calls stand for time off the CPU. If the first entry or exit in the range belongs to such a
 * call, `report -r` does not know which calls are open at the range's beginning (may_be_inside() in
 * utils/pipeline/stages/stg_calls.c). In this case, knowsOpen is false.
 */
class RangeSummer {
	/**
	 * @param {import("./task.js").Task} task
	 * @param {import("./recording.js").Range} range
	 * @param {Uint8Array} isWait for each function, 1 if its calls are waits
	 */
	constructor(task, { from, to }, isWait) {
		this.task = task;
		this.to = to;
		this.isWait = isWait;
		this.sums = makeSums(task.tree.nr);
		this.begin = task.firstAt(from);
		this.stop = task.firstAt(to + 1);
		const open = openAt(task, from).filter((i) => task.start[i] < from);
		const isOff = (/** @type {number} */ i) => isWait[task.func(i)] !== 0;
		/**
		 * The calls that are open at the range's beginning, the outermost first. Calls that
		 * stand for time off the CPU are left out.
		 */
		this.open = open.filter((i) => !isOff(i));
		const inner = open[open.length - 1], begin = this.begin < task.n ? this.begin : -1;
		const isInnerFirst = inner !== undefined &&
			(begin < 0 || task.end(inner) <= task.start[begin]);
		this.knowsOpen = isInnerFirst ? !isOff(inner) : begin < 0 || !isOff(begin);
		this.first = isInnerFirst ? task.end(inner) : begin < 0 ? Infinity : task.start[begin];
		/** stack[depth] is the node of the open call, or -1 if the call is not counted. */
		this.stack = this.open.map((i) => (this.knowsOpen && task.end(i) <= to ? task.ctx[i] : -1));
		/** The number of calls in the stack that were open at the range's beginning. */
		this.seeded = this.open.length;
		/**
		 * inside[func] is the number of calls of func that are in the stack and began in
		 * the range.
		 */
		this.inside = new Int32Array(isWait.length);
		this.last = this.#lastEvent(from, open);
	}

	/**
	 * @param {number} from
	 * @param {number[]} open
	 */
	#lastEvent(from, open) {
		const { task, to } = this;
		let last = from;
		for (const i of open) if (task.end(i) <= to) last = Math.max(last, task.end(i));
		for (let i = this.begin; i < this.stop; i++) {
			const end = task.start[i] + task.dur[i];
			last = Math.max(last, end <= to ? end : task.start[i]);
		}
		const { pointTime } = task, point = pointTime[lowerBound(pointTime, to + 1) - 1];
		return point > last ? point : last;
	}

	/**
	 * @param {number} node
	 * @param {number} ns
	 * @param {boolean} isOuter
	 * @param {number} depth
	 */
	#count(node, ns, isOuter, depth) {
		const { sums, stack } = this;
		sums.calls[node]++;
		sums.self[node] += ns;
		if (isOuter) sums.total[node] += ns;
		sums.longest[node] = Math.max(sums.longest[node], ns);
		if (depth > 0 && stack[depth - 1] >= 0) sums.self[stack[depth - 1]] -= ns;
	}

	#countOpen() {
		this.open.forEach((i, depth) => {
			const end = this.task.end(i);
			if (end <= this.to) this.#count(this.task.ctx[i], end - this.first, depth === 0, depth);
		});
	}

	/**
	 * Counts the calls that were open when the range began, and ended within the range. Call
	 * this function if knowsOpen is false. In this case, only the exit of such a call shows
	 * that the call was open.
	 */
	#countEnds() {
		const { task, sums, open, to } = this;
		for (let depth = open.length - 1; depth >= 0; depth--) {
			const end = task.end(open[depth]), node = task.ctx[open[depth]];
			if (end > to) break;
			const { ns, self } = this.#outermostBefore(end, depth);
			sums.calls[node]++;
			sums.total[node] += ns;
			sums.self[node] += self;
			sums.longest[node] = Math.max(sums.longest[node], ns);
		}
	}

	/**
	 * Looks at the calls that are nested in the open call at `depth`. A call counts only if it
	 * began in the summed range, and ended at `time` or earlier. Finds the outermost level with
	 * a call that counts. Returns the duration and the self time of the last call that counts
	 * on this level. Returns zeros if no call counts.
	 * @param {number} time
	 * @param {number} depth of the open call that ends at `time`
	 */
	#outermostBefore(time, depth) {
		const { task } = this;
		for (let d = depth + 1; d < task.rows.length && d <= this.open.length; d++) {
			const row = task.rows[d], i = row[lowerBoundBy(row, (k) => task.end(k) > time) - 1];
			if (i !== undefined && i >= this.begin)
				return { ns: task.dur[i], self: task.self(i) };
		}
		return { ns: 0, self: 0 };
	}

	/** @param {number} depth */
	#leave(depth) {
		const { func } = this.task.tree;
		while (this.stack.length > depth) {
			const node = /** @type {number} */ (this.stack.pop());
			if (node < 0 || this.stack.length < this.seeded) continue;
			this.inside[func[node]]--;
		}
		this.seeded = Math.min(this.seeded, depth);
	}

	sum() {
		const { task, to, last, isWait } = this, { func, depth } = task.tree;
		if (this.knowsOpen) this.#countOpen();
		else this.#countEnds();
		for (let i = this.begin; i < this.stop; i++) {
			const node = task.ctx[i], f = func[node], end = task.start[i] + task.dur[i];
			this.#leave(depth[node]);
			// Time off the CPU counts only if the thread gets the CPU back within the range.
			if (end > to && isWait[f]) continue;
			// If knowsOpen is false, time off the CPU counts only within calls
			// that began in the range.
			if (isWait[f] && !this.knowsOpen && depth[node] === this.seeded) continue;
			const nested = this.inside[f]++;
			this.#count(node, (end > to ? last : end) - task.start[i], nested === 0, depth[node]);
			this.stack.push(node);
		}
		return this.sums;
	}
}

/**
 * Returns the index of the first value in `row` for which `is` returns true, or row.length. For all
 * later values, `is` must return true as well.
 * @param {Uint32Array} row
 * @param {(i: number) => boolean} is
 */
function lowerBoundBy(row, is) {
	let low = 0, high = row.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (is(row[middle])) high = middle;
		else low = middle + 1;
	}
	return low;
}

/**
 * Returns the sums of a task: of the calls in a range or, if the range is null, of all calls. The
 * numbers are those of `report`.
 * @param {import("./task.js").Task} task
 * @param {import("./recording.js").Range | null} range
 * @param {Uint8Array} isWait
 * @returns {NodeSums}
 */
export function sumTask(task, range, isWait) {
	return range ? new RangeSummer(task, range, isWait).sum() : sumAll(task);
}

/**
 * For a flame graph: returns for each node the number of calls that are open at any time in the
 * range, and the time that these calls spend in the range.
 * @param {import("./task.js").Task} task
 * @param {import("./recording.js").Range | null} range
 */
export function clipTask(task, range) {
	if (!range) return task.sums;
	const { from, to } = range, { ctx, start, dur } = task;
	const calls = new Float64Array(task.tree.nr), total = new Float64Array(task.tree.nr);
	const add = (/** @type {number} */ i) => {
		calls[ctx[i]]++;
		total[ctx[i]] += Math.min(start[i] + dur[i], to) - Math.max(start[i], from);
	};
	openAt(task, from).forEach(add);
	for (let i = task.firstAt(from); i < task.n && start[i] < to; i++) add(i);
	return { calls, total };
}
