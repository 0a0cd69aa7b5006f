/** The tree of a flame graph: the call trees of all tasks, merged into one tree. */
import { clipTask } from "./sums.js";

export class FlameNode {
	/**
	 * @param {number} func -1: all tasks
	 * @param {FlameNode | null} parent
	 */
	constructor(func, parent) {
		this.func = func;
		this.parent = parent;
		this.total = 0;
		this.self = 0;
		this.calls = 0;
		/** @type {Map<number, FlameNode>} */
		this.children = new Map();
	}

	/** Returns the children, sorted by total time, the longest first. */
	sorted() {
		return [...this.children.values()].sort((a, b) => b.total - a.total);
	}
}

/**
 * @param {import("./recording.js").Recording} recording
 * @param {import("./recording.js").Range | null} range
 * @param {boolean} hasWaits true: the tree has nodes for time off the CPU; false: the tree
 * has no such nodes, and time off the CPU is subtracted from all calls that waited
 */
export function makeFlameTree(recording, range, hasWaits) {
	const root = new FlameNode(-1, null), part = recording.isWhole(range) ? null : range;
	for (const task of recording.tasks) {
		if (!task.isLoaded) continue;
		const { nr, func, parent } = task.tree, { calls, total } = clipTask(task, part);
		/** @type {(FlameNode | null)[]} */
		const nodes = [root];
		for (let node = 1; node < nr; node++) {
			const above = nodes[parent[node]];
			nodes[node] = null;
			if (!above || !calls[node]) continue;
			if (recording.isWait[func[node]] && !hasWaits) {
				for (let n = above; n.parent; n = n.parent) n.total -= total[node];
				above.self -= total[node];
				if (above !== root) root.total -= total[node];
				continue;
			}
			let at = above.children.get(func[node]);
			if (!at) above.children.set(func[node], at = new FlameNode(func[node], above));
			at.calls += calls[node];
			at.total += total[node];
			at.self += total[node];
			above.self -= total[node];
			if (above === root) root.total += total[node];
			nodes[node] = at;
		}
	}
	return root;
}
