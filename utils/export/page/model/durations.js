/** The durations of the calls of one function. */

/** The number of buckets of the histogram for each power of ten. */
const PER_DECADE = 4;
const SLOWEST = 10;

/**
 * Visits the calls of a function that begin in a range, task by task, in the order of time.
 * @param {import("./recording.js").Recording} recording
 * @param {import("./recording.js").Range | null} range
 * @param {number} func
 * @param {(task: import("./task.js").Task, i: number) => void} visit
 */
function eachCall(recording, range, func, visit) {
	for (const task of recording.tasks) {
		const { tree, ctx, start } = task;
		const isOf = Uint8Array.from(tree.func, (f) => (f === func ? 1 : 0));
		if (!isOf.includes(1)) continue;
		const to = range ? range.to : Infinity;
		for (let i = range ? task.firstAt(range.from) : 0; i < task.n && start[i] <= to; i++)
			if (isOf[ctx[i]]) visit(task, i);
	}
}

/** @param {number} ns */
export const bucketOf = (ns) => (ns < 1 ? 0 : Math.floor(Math.log10(ns) * PER_DECADE + 1e-9) + 1);
/**
 * Returns the lower end of a bucket, in ns.
 * @param {number} bucket
 */
export const bucketStart = (bucket) => (bucket === 0 ? 0 : 10 ** ((bucket - 1) / PER_DECADE));

/**
 * Returns a histogram with a logarithmic scale, and the slowest calls.
 * @param {import("./recording.js").Recording} recording
 * @param {import("./recording.js").Range | null} range
 * @param {number} func
 */
export function findDurations(recording, range, func) {
	/** @type {number[]} */
	const counts = [];
	/** @type {import("./task.js").Call[]} */
	const slowest = [];
	let least = -1;
	eachCall(recording, range, func, (task, i) => {
		const ns = task.dur[i], bucket = bucketOf(ns);
		counts[bucket] = (counts[bucket] || 0) + 1;
		if (slowest.length === SLOWEST && ns <= least) return;
		const at = slowest.findIndex(([other, k]) => other.dur[k] < ns);
		slowest.splice(at < 0 ? slowest.length : at, 0, [task, i]);
		slowest.length = Math.min(slowest.length, SLOWEST);
		const [other, k] = slowest[slowest.length - 1];
		least = other.dur[k];
	});
	const first = counts.findIndex((count) => count);
	const buckets = counts.slice(Math.max(0, first)).map((count, k) => ({
		from: bucketStart(k + first), to: bucketStart(k + first + 1), count: count || 0,
	}));
	return { buckets: Array.from(buckets, (b, k) => b || {
		from: bucketStart(k + first), to: bucketStart(k + first + 1), count: 0,
	}), slowest };
}
