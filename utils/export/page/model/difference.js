/** Two recordings beside each other: equal names belong together, as for `report --diff`. */
import { FlameNode } from "./flame_tree.js";

/** @typedef {"base" | "pair"} SideName */
/** @type {SideName[]} */
export const SIDES = ["base", "pair"];

/** @typedef {{ calls: number, total: number, self: number }} SideSums */

/** @returns {SideSums} */
const noSums = () => ({ calls: 0, total: 0, self: 0 });

/**
 * From the first recording's beginning to the end of the longer one: the scale of both.
 * @param {import("./recording.js").Recording[]} recordings that begin at the same time
 */
export function shareScale(recordings) {
	const filled = recordings.filter((r) => r.length), all = filled.length ? filled : recordings;
	const first = Math.min(...all.map((r) => r.first));
	const last = Math.max(...all.map((r) => r.last));
	for (const recording of recordings) Object.assign(recording, { first, last });
}

/**
 * A function in both recordings.
 * @typedef {object} DiffRow
 * @property {string} name
 * @property {SideSums} base
 * @property {SideSums} pair
 */

/**
 * A row for each name, in no order.
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
 * The increase in percent of the base; null where one of both is empty.
 * @param {number} base
 * @param {number} pair
 */
export const percentMore = (base, pair) =>
	(base === 0 || pair === 0 ? null : (pair - base) * 100 / Math.abs(base));

/** A path of calls in both recordings; its width is that of one recording. */
export class DiffNode extends FlameNode {
	/**
	 * @param {number} func the number of its name; -1: all
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
	 * From -1 (went away) to 1 (is new), as the pictures of `graph --diff`.
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
 * Visit a node and all below it, from above.
 * @param {DiffNode} root
 * @param {(node: DiffNode) => boolean | void} visit false: none of those below
 */
export function eachNode(root, visit) {
	const waiting = [root];
	for (let node = waiting.pop(); node; node = waiting.pop())
		// One by one: a function may call more others than a call can have arguments.
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
 * Make widths those of one recording.
 * @param {DiffNode} root
 * @param {SideName} side
 */
export function showSide(root, side) {
	eachNode(root, (node) => { Object.assign(node, node[side]); });
}

/**
 * Paths that only one of them has, without what is below them; those that took longest first.
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
