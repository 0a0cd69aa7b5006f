/** A task of the recording: its calls in the order in which they began, and its events. */

/**
 * @typedef {object} TaskInfo the data of a task before its calls are read
 * @property {number} pid
 * @property {number} tid
 * @property {number} calls
 * @property {number} points
 * @property {number} depth levels of calls
 * @property {number} start in ns; all times count from the beginning of the recording
 * @property {number} end
 * @property {string} name
 */

/** For each node of a call tree: number, total time and longest time of the node's calls. */
export class Sums {
	/** @param {number} nr the number of nodes */
	constructor(nr) {
		this.calls = new Float64Array(nr);
		this.total = new Float64Array(nr);
		this.longest = new Float64Array(nr);
	}
}

export class Task {
	/**
	 * @param {TaskInfo} info
	 * @param {number} index
	 */
	constructor(info, index) {
		this.info = info;
		this.index = index;
		this.pid = info.pid;
		this.tid = info.tid;
		this.name = info.name;
		this.isLoaded = false;
		this.n = 0;
		this.start = new Float64Array(0);
		this.dur = new Float64Array(0);
		this.ctx = new Uint32Array(0);
		/**
		 * For each call, the number of its text, counted from 1; 0: the call has no text.
		 * The whole array is null if no call has a text. Numbers from a server may need
		 * more than 32 bits.
		 * @type {Uint32Array | Float64Array | null}
		 */
		this.text = null;
		/** @type {Set<number>} */
		this.open = new Set();
		/** @type {Uint32Array[]} */
		this.rows = Array.from({ length: info.depth }, () => new Uint32Array(0));
		this.tree = {
			nr: 1, func: Int32Array.of(-1), parent: Int32Array.of(-1), depth: Int32Array.of(-1),
		};
		this.sums = new Sums(1);
		/** isOuter[node] is 1 if no node above has the same function. */
		this.isOuter = Uint8Array.of(0);
		/**
		 * Self times of calls, if a server sends the calls. The server may leave out
		 * callees, so the page cannot compute self times.
		 * @type {Float64Array | null}
		 */
		this.selfTimes = null;
		this.pointTime = new Float64Array(0);
		this.pointText = /** @type {Uint32Array | Float64Array} */ (new Uint32Array(0));
		this.pointKind = new Uint32Array(0);
		/**
		 * Is set if a server sends events. pointDepth[i] is a number that distinguishes
		 * event i from the task's other events at the same time (KINDS in served.js).
		 */
		this.pointDepth = new Uint32Array(0);
		/** the total time of the outermost calls, without the time of waits, in ns */
		this.cpu = 0;
	}

	/**
	 * @param {import("../data/decode.js").TaskArrays} arrays
	 * @param {Uint8Array} isWait for each function, 1 if its calls are waits
	 */
	fill(arrays, isWait) {
		const { open, ...rest } = arrays;
		Object.assign(this, rest);
		this.open = new Set(open);
		this.n = this.start.length;
		this.isLoaded = true;
		this.isOuter = findOuter(this.tree);
		const { nr, depth, func } = this.tree, { total } = this.sums;
		for (let node = 1; node < nr; node++) {
			if (depth[node] === 0) this.cpu += total[node];
			if (isWait[func[node]]) this.cpu -= total[node];
		}
	}

	/** @param {number} i */
	func(i) { return this.tree.func[this.ctx[i]]; }
	/** @param {number} i */
	depth(i) { return this.tree.depth[this.ctx[i]]; }
	/** @param {number} i */
	end(i) { return this.start[i] + this.dur[i]; }
	/** @param {number} i */
	caller(i) { return this.tree.func[this.tree.parent[this.ctx[i]]]; }

	/**
	 * Returns the index of the call that has made this call, or -1.
	 * @param {number} i
	 */
	parent(i) {
		const depth = this.depth(i);
		if (depth <= 0) return -1;
		const row = this.rows[depth - 1];
		return row[firstFrom(row, i) - 1];
	}

	/**
	 * Returns the time of a call without its callees.
	 * @param {number} i
	 */
	self(i) {
		if (this.selfTimes) return this.selfTimes[i];
		const below = this.rows[this.depth(i) + 1], end = this.end(i);
		let self = this.dur[i];
		if (!below) return self;
		for (let k = firstFrom(below, i); k < below.length; k++) {
			const child = below[k];
			if (this.start[child] > end || this.parent(child) !== i) break;
			self -= this.dur[child];
		}
		return self;
	}

	/**
	 * Returns the index of the first call that begins at `time` or later.
	 * @param {number} time
	 */
	firstAt(time) { return lowerBound(this.start, time); }
}

/** @typedef {[task: Task, index: number]} Call */

/**
 * @param {{ nr: number, func: Int32Array, parent: Int32Array }} tree
 */
function findOuter(tree) {
	const isOuter = new Uint8Array(tree.nr);
	for (let node = 1; node < tree.nr; node++) {
		let above = tree.parent[node];
		while (above > 0 && tree.func[above] !== tree.func[node]) above = tree.parent[above];
		isOuter[node] = above > 0 ? 0 : 1;
	}
	return isOuter;
}

/**
 * Returns the first index whose value is not below the given value.
 * @param {Float64Array | Uint32Array} values in order
 * @param {number} value
 */
export function lowerBound(values, value) {
	let low = 0, high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle] < value) low = middle + 1;
		else high = middle;
	}
	return low;
}

/**
 * A row is a list of indexes of calls, in ascending order. Returns the position of the first
 * element of the row that is greater than i, or row.length if there is none.
 * @param {Uint32Array} row
 * @param {number} i
 */
function firstFrom(row, i) { return lowerBound(row, i + 1); }

/**
 * Finds, in a row of calls, the first call that ends after a time. Returns the index of this call
 * in the row. The search begins at the index low.
 * @param {{ start: Float64Array, dur: Float64Array }} task
 * @param {Uint32Array} row
 * @param {number} time
 * @param {number} low
 */
export function firstEnding(task, row, time, low) {
	let high = row.length, step = 1;
	// The index is often near low, so the step begins small and is doubled.
	while (low + step < high && task.start[row[low + step]] + task.dur[row[low + step]] <= time)
		step *= 2;
	high = Math.min(high, low + step + 1);
	while (low < high) {
		const middle = (low + high) >> 1, i = row[middle];
		if (task.start[i] + task.dur[i] <= time) low = middle + 1;
		else high = middle;
	}
	return low;
}
