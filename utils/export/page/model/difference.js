/** Two recordings side by side. Functions are compared by their names, as in `report --diff`. */
import { FlameNode } from "./flame_tree.js";

/**
 * The base is the old recording, and the pair is the new one.
 * @typedef {"base" | "pair"} SideName
 */
/** @type {SideName[]} */
export const SIDES = ["base", "pair"];

/** @typedef {{ calls: number, total: number, self: number }} SideSums */

/** @returns {SideSums} */
const noSums = () => ({ calls: 0, total: 0, self: 0 });

/**
 * Gives both recordings the same scale. The scale reaches from the beginning of the recordings to
 * the end of the longer recording.
 * @param {import("./recording.js").Recording[]} recordings that begin at the same time
 */
export function shareScale(recordings) {
	const filled = recordings.filter((r) => r.length), all = filled.length ? filled : recordings;
	const first = Math.min(...all.map((r) => r.first));
	const last = Math.max(...all.map((r) => r.last));
	for (const recording of recordings) Object.assign(recording, { first, last });
}

/**
 * The sums of a function in each of the two recordings.
 * @typedef {object} DiffRow
 * @property {string} name
 * @property {SideSums} base
 * @property {SideSums} pair
 */

/**
 * Returns a row for each name, in no particular order.
 * @param {import("./functions.js").FunctionRow[]} base
 * @param {import("./functions.js").FunctionRow[]} pair
 */
export function diffRows(base, pair) {
	/** @type {Map<string, DiffRow>} */
	const rows = new Map();
	const add = (/** @type {SideName} */ side) =>
		(/** @type {import("./functions.js").FunctionRow} */ from) => {
			const row = rows.get(from.name) || { name: from.name, base: noSums(), pair: noSums() };
			rows.set(from.name, row);
			row[side].calls += from.calls;
			row[side].total += from.total;
			row[side].self += from.self;
		};
	base.forEach(add("base"));
	pair.forEach(add("pair"));
	return [...rows.values()];
}

/**
 * Returns the increase from @base to @pair, in percent of the absolute value of @base. Returns null
 * when @base or @pair is 0.
 * @param {number} base
 * @param {number} pair
 */
export const percentMore = (base, pair) =>
	(base === 0 || pair === 0 ? null : (pair - base) * 100 / Math.abs(base));

/**
 * A path of calls that exists in one or both recordings. showSide() chooses one recording. The sums
 * of this recording determine the widths of the nodes.
 */
export class DiffNode extends FlameNode {
	/**
	 * @param {number} func the number of the function's name; -1: the root
	 * @param {DiffNode | null} parent
	 */
	constructor(func, parent) {
		super(func, parent);
		this.base = noSums();
		this.pair = noSums();
	}

	/** @returns {DiffNode[]} */
	get below() { return /** @type {DiffNode[]} */ ([...this.children.values()]); }

	/**
	 * The change of the total time, as in `graph --diff`: a number from -1 to 1. If the path
	 * takes time only in the base (the old recording), the number is -1. If the path takes time
	 * only in the pair (the new recording), the number is 1.
	 * @returns {number}
	 */
	get change() {
		const base = Math.max(0, this.base.total), pair = Math.max(0, this.pair.total);
		return (pair - base) / Math.max(base, pair, 1);
	}

	/** @param {SideName} side */
	isOnlyOf(side) { return this[side].calls > 0 && this[side === "base" ? "pair" : "base"].calls === 0; }
}

/**
 * Visits a node and all nodes below it, parents first.
 * @param {DiffNode} root
 * @param {(node: DiffNode) => boolean | void} visit false: leave out the nodes below
 */
export function eachNode(root, visit) {
	const waiting = [root];
	for (let node = waiting.pop(); node; node = waiting.pop())
		// In push(...node.below), many callees would be too many arguments.
		if (visit(node) !== false) for (const child of node.below) waiting.push(child);
}

/**
 * @param {FlameNode} base
 * @param {FlameNode} pair
 * @param {(side: SideName, func: number) => number} numberOf the number of a function's name
 */
export function makeDiffTree(base, pair, numberOf) {
	const root = new DiffNode(-1, null);
	/** @type {[SideName, DiffNode, FlameNode][]} */
	const waiting = [["base", root, base], ["pair", root, pair]];
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		const [side, to, from] = next, sums = to[side];
		sums.calls += from.calls;
		sums.total += from.total;
		sums.self += Math.max(0, from.self);
		for (const child of from.children.values()) {
			const func = numberOf(side, child.func);
			let at = to.children.get(func);
			if (!at) to.children.set(func, at = new DiffNode(func, to));
			waiting.push([side, /** @type {DiffNode} */ (at), child]);
		}
	}
	return root;
}

/**
 * Shows one recording: its sums become the widths of the nodes.
 * @param {DiffNode} root
 * @param {SideName} side
 */
export function showSide(root, side) {
	eachNode(root, (node) => { Object.assign(node, node[side]); });
}

/**
 * Returns the paths that only the recording @side has, sorted by total time, longest time first.
 * Paths below such a path are left out.
 * @param {DiffNode} root
 * @param {SideName} side
 */
export function onlyOf(root, side) {
	/** @type {DiffNode[]} */
	const found = [];
	eachNode(root, (node) => {
		if (node === root || !node.isOnlyOf(side)) return true;
		found.push(node);
		return false;
	});
	return found.sort((a, b) => b[side].total - a[side].total);
}
