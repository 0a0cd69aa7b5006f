/**
 * The flame graph of two recordings. If the user has chosen "Base", the widths of the boxes are
 * times in the base recording. Otherwise, the widths are times in the new recording. If the user
 * has chosen "Difference", the colours show the changes of the times.
 */
import { byId, element } from "../ui/element.js";
import { changeText, count, groups, percent, percentText, timeText } from "../model/text.js";
import { makeDiffTree, onlyOf, percentMore, showSide } from "../model/difference.js";
import { makeFlameTree } from "../model/flame_tree.js";
import { FlameView } from "./flame.js";

/** The smallest change that has a colour, on the scale from -1 to 1. */
const LEAST_CHANGE = 0.01;
/** "Only in base" and "Only in new" list at most this number of paths, and count the others. */
const MOST_NAMED = 8;

/** @typedef {import("../model/difference.js").DiffNode} DiffNode */
/** @typedef {import("../model/difference.js").SideName} SideName */

/** @type {[import("../state/state.js").Shown, string][]} */
const SHOWN_TITLES = [["base", "Base"], ["difference", "Difference"], ["new", "New"]];

/**
 * Returns the colour of a change. Red is slower, blue is faster, and larger changes have stronger
 * colours, as in `graph --diff --format=svg`.
 * @param {number} change from -1 to 1
 */
export function changeColor(change) {
	const strength = Math.min(1, Math.abs(change));
	if (strength < LEAST_CHANGE) return "#e2e2de";
	return `hsl(${change > 0 ? 4 : 212} ${45 + 40 * strength}% ${88 - 30 * strength}%)`;
}

export class DiffFlameView extends FlameView {
	/**
	 * @param {import("../state/app.js").App} app
	 */
	constructor(app) {
		super(app);
		/** @type {string[]} */
		this.names = [];
		/** @type {string[]} */
		this.fills = [];
		/** "base" or "pair": the recording that determines the widths of nodes. "": none */
		this.side = "";
		const box = element("span", { role: "radiogroup", "aria-label": "Flame graph of", class: "switch" },
			...SHOWN_TITLES.map(([shown, title]) => element("label", {},
				element("input", {
					type: "radio", name: "shown", value: shown, change: () => app.change({ shown }),
				}), ` ${title}`)));
		byId("of-flame").prepend(box);
		this.legend = element("p", {}, "Red took longer in new, blue in base, the stronger the more.");
		this.only = element("div", { id: "flame-only", class: "only" });
		byId("flame").append(this.only);
	}

	/** @returns {DiffNode} */
	sumUp() {
		const { apps, state } = this.app, names = new Map();
		const fills = apps.map(({ recording }) => recording.fills);
		this.names = [];
		this.fills = [];
		const numbers = apps.map(({ recording }, k) => recording.names.map((name, func) => {
			if (!names.has(name)) {
				names.set(name, this.names.length);
				this.names.push(name);
				this.fills.push(fills[k][func]);
			}
			return names.get(name);
		}));
		const [base, pair] = apps.map(({ recording }) =>
			makeFlameTree(recording, state.part, state.hasWaits));
		this.side = "";
		return makeDiffTree(base, pair, (side, func) => numbers[side === "base" ? 0 : 1][func]);
	}

	makeTree() {
		const before = this.tree, tree = /** @type {DiffNode} */ (super.makeTree());
		const side = this.app.state.shown === "base" ? "base" : "pair";
		if (this.tree === before && side === this.side) return tree;
		showSide(tree, side);
		this.measured = null;
		this.side = side;
		// The widths are those of one recording, which the user has chosen. A node without
		// calls in that recording has no width, so the node cannot fill the window.
		while (this.root && !this.root.calls && this.root.parent) this.root = this.at = this.root.parent;
		this.#showOnly(tree);
		return tree;
	}

	/** @param {DiffNode} node */
	name(node) {
		if (node.func >= 0) return this.names[node.func];
		const { shown } = this.app.state, [base, pair] = this.app.apps;
		const { meta } = (shown === "base" ? base : pair).recording;
		return `${shown === "base" ? "Base" : "New"} ${meta.dir}: ${timeText(node.total)} in all tasks`;
	}

	/**
	 * Returns the name of the node's function. The recordings are compared by names, and
	 * state.func is such a name.
	 * @param {DiffNode} node
	 */
	keyOf(node) { return this.name(node); }

	/** @param {DiffNode} node */
	label(node) {
		const more = percentMore(node.base.total, node.pair.total);
		if (this.app.state.shown !== "difference" || node.func < 0 || more === null) return this.name(node);
		return Math.abs(more) < 100 * LEAST_CHANGE ? this.name(node) : `${this.name(node)} ${percentText(more)}`;
	}

	/** @param {DiffNode} node */
	fill(node) {
		return this.app.state.shown === "difference" ? changeColor(node.change) : this.fills[node.func];
	}

	/** @param {DiffNode} node */
	isMatch(node) {
		const { matcher } = this.app.search;
		return Boolean(matcher && matcher(this.names[node.func]));
	}

	/** @param {DiffNode} node */
	numbers(node) {
		const { base, pair } = node, tree = this.makeTree();
		const said = (/** @type {string} */ title, /** @type {import("../model/difference.js").SideSums} */ s,
			/** @type {number} */ all) => (s.calls || node.func < 0
			? `${title}: ${timeText(s.total)} (${percent(s.total, all)})${node.func < 0 ? ""
				: `, itself ${timeText(s.self)}, ${count(s.calls, "call")}`}` : `${title}: not called here`);
		const more = percentMore(base.total, pair.total);
		return [said("base", base, tree.base.total), said("new", pair, tree.pair.total),
			`${changeText(pair.total - base.total)}${more === null ? "" : ` (${percentText(more)})`}`];
	}

	/**
	 * Lists the paths that only one recording has. The picture of the other recording cannot
	 * show these paths.
	 * @param {DiffNode} tree
	 */
	#showOnly(tree) {
		const line = (/** @type {SideName} */ side, /** @type {string} */ title) => {
			const found = onlyOf(tree, side), more = found.length - MOST_NAMED;
			const color = changeColor(side === "base" ? -1 : 1);
			const mark = element("span", { class: "swatch" });
			mark.style.background = color;
			return element("p", {}, mark, found.length ? `${title}: ` : `${title}: nothing`,
				...found.slice(0, MOST_NAMED).map((node) => element("button", {
					class: "tool", title: this.#pathOf(node), click: () => this.#goTo(node, side),
				}, `${this.names[node.func]} ${timeText(node[side].total)}`)),
				more > 0 ? ` and ${groups(more)} more` : "");
		};
		this.only.replaceChildren(this.legend, line("base", "Only in base"), line("pair", "Only in new"));
	}

	/** @param {DiffNode} node */
	#pathOf(node) {
		const path = [];
		for (let n = /** @type {import("../model/flame_tree.js").FlameNode | null} */ (node); n && n.parent;
			n = n.parent) path.unshift(this.names[n.func]);
		return path.join(" → ");
	}

	/**
	 * @param {DiffNode} node
	 * @param {SideName} side
	 */
	#goTo(node, side) {
		const { shown } = this.app.state;
		if (side === "base") this.app.change({ shown: "base" }, "push");
		else if (shown === "base") this.app.change({ shown: "difference" }, "push");
		this.makeTree();
		this.zoomTo(node);
	}

	draw() {
		const chosen = /** @type {HTMLInputElement | null} */ (
			document.querySelector(`input[name=shown][value=${this.app.state.shown}]`));
		if (chosen) chosen.checked = true;
		this.legend.hidden = this.app.state.shown !== "difference";
		return super.draw();
	}
}
