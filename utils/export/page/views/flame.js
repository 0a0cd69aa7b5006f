/** The flame graph: the times of functions, with the outermost callers at the top. */
import { byId, canvasById, pointIn } from "../ui/element.js";
import { clean, drawLabel, lettersIn } from "../ui/canvas.js";
import { colors } from "../ui/colors.js";
import { count, percent, timeText } from "../model/text.js";
import { hideTip, showTip } from "../ui/tip.js";
import { ROW } from "../model/layout.js";
import { FlameNode, makeFlameTree } from "../model/flame_tree.js";

/** The smallest width of a shown box, in pixels. */
const LEAST_BOX = 0.4;
const FLAME_TOP = 8;
/** The number of rows that stay visible above the chosen box, and also below the box. */
const ROWS_BESIDE = 3;

/** @typedef {{ node: FlameNode, x: number, y: number, wide: number }} Box */

/**
 * Returns the top of a node's row in the whole picture, in pixels.
 * @param {FlameNode} node
 */
function rowTop(node) {
	let y = FLAME_TOP;
	for (let n = node.parent; n; n = n.parent) y += ROW;
	return y;
}

/**
 * Visits a box, and its descendants in the rows below. Boxes that are too narrow, or that begin at
 * the line @bottom or below this line, are not visited.
 * @param {Box} first
 * @param {number} bottom
 * @param {(box: Box) => void} visit
 */
function walkBelow(first, bottom, visit) {
	const waiting = [first];
	for (let box = waiting.pop(); box; box = waiting.pop()) {
		const { node, x, y, wide } = box;
		visit(box);
		if (y + ROW >= bottom || !node.children.size) continue;
		const children = node.sorted(), sum = children.reduce((all, child) => all + child.total, 0);
		let at = x;
		for (const child of children) {
			const part = node.total ? wide * child.total / Math.max(node.total, sum) : 0;
			if (part < LEAST_BOX) break;
			waiting.push({ node: child, x: at, y: y + ROW, wide: part });
			at += part;
		}
	}
}

export class FlameView {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		this.canvas = canvasById("flame-canvas");
		this.scroller = byId("flame-box");
		this.spacer = byId("flame-spacer");
		/** The height of the whole picture, in pixels. */
		this.high = 0;
		/**
		 * The tree and the width from which the height was computed.
		 * @type {{ root: FlameNode, width: number } | null}
		 */
		this.measured = null;
		/** @type {FlameNode | null} */
		this.tree = null;
		this.key = "";
		/**
		 * The node whose box is as wide as the picture.
		 * @type {FlameNode | null}
		 */
		this.root = null;
		/**
		 * The node that keys or a click have chosen.
		 * @type {FlameNode | null}
		 */
		this.at = null;
		/**
		 * The visible boxes.
		 * @type {Box[]}
		 */
		this.boxes = [];
		const { canvas } = this;
		this.scroller.addEventListener("scroll", () => { hideTip(); app.tell("draw"); });
		canvas.addEventListener("pointermove", (event) => this.#hover(event));
		canvas.addEventListener("pointerleave", hideTip);
		canvas.addEventListener("click", (event) => {
			const box = this.boxAt(pointIn(canvas, event));
			if (box) this.zoomTo(box.node);
		});
		canvas.addEventListener("keydown", (event) => this.#onKey(event));
	}

	/** Makes the tree of the shown range if it is not made yet. */
	makeTree() {
		const { apps, state } = this.app, part = state.part;
		const loaded = apps.flatMap(({ recording }) => recording.tasks).filter((task) => task.isLoaded);
		const key = `${part ? `${part.from} ${part.to}` : ""} ${state.hasWaits} ${loaded.length} ${
			apps[0].recording.supplier?.turn}`;
		if (this.tree && key === this.key) return this.tree;
		this.key = key;
		this.root = this.at = this.measured = null;
		this.tree = this.sumUp();
		return this.tree;
	}

	/** @returns {FlameNode} */
	sumUp() {
		const { recording, state } = this.app;
		if (recording.supplier) {
			const tree = recording.supplier.flame(state.part, state.hasWaits);
			// If there is no tree yet, the next drawing asks the supplier again.
			if (!tree) this.key = "";
			return tree || new FlameNode(-1, null);
		}
		return makeFlameTree(recording, state.part, state.hasWaits);
	}

	/** @param {FlameNode} node */
	zoomTo(node) {
		this.root = node;
		this.#goTo(node);
	}

	/** @param {FlameNode} node */
	name(node) {
		return node.func < 0 ? `${this.app.recording.meta.title}: ${timeText(node.total)} in all tasks`
			: this.app.recording.names[node.func];
	}

	/**
	 * Returns the value that selects the node's function in state.func. The value is unique,
	 * although two functions may have the same name.
	 * @param {FlameNode} node of a function
	 */
	keyOf(node) { return this.app.recording.keys[node.func]; }

	/**
	 * Returns the label of a node. A subclass may return a longer label than name(node). If
	 * this label is too long for the node's box, the box shows name(node).
	 * @param {FlameNode} node
	 */
	label(node) { return this.name(node); }

	/** @param {FlameNode} node */
	fill(node) { return this.app.recording.fills[node.func]; }

	/** @param {FlameNode} node */
	isMatch(node) { return this.app.search.funcs[node.func] === 1; }

	/** @param {FlameNode} node */
	numbers(node) {
		const all = this.makeTree().total;
		return [`${timeText(node.total)} (${percent(node.total, all)}), itself ` +
			timeText(Math.max(0, node.func < 0 ? 0 : node.self)),
		node.calls ? count(node.calls, "call") : ""];
	}

	/** @param {FlameNode} node */
	#tellOf(node) {
		byId("flame-chosen").textContent =
			[this.name(node), ...this.numbers(node)].filter(Boolean).join(", ");
	}

	/**
	 * Describes the node that keys or a click have chosen, and scrolls to it.
	 * @param {FlameNode} node
	 */
	#goTo(node) {
		this.at = node;
		this.#tellOf(node);
		this.#layOut();
		const { scroller } = this, y = rowTop(node), beside = ROWS_BESIDE * ROW;
		const least = y + ROW + beside - scroller.clientHeight;
		scroller.scrollTop = Math.max(least, Math.min(scroller.scrollTop, y - beside));
		this.app.tell("draw");
	}

	/** Computes the picture's height from the lowest box that is wide enough to be shown. */
	#layOut() {
		const tree = this.makeTree(), root = this.root || tree, width = this.canvas.clientWidth;
		if (this.measured && this.measured.root === root && this.measured.width === width) return;
		this.measured = { root, width };
		let bottom = 0;
		walkBelow({ node: root, x: 0, y: rowTop(root), wide: width }, Infinity, ({ y }) => {
			bottom = Math.max(bottom, y + ROW);
		});
		this.high = bottom;
		this.spacer.style.height = `${bottom}px`;
	}

	draw() {
		const tree = this.makeTree(), root = this.root || tree;
		this.#layOut();
		const { g, width, height } = clean(this.canvas), top = this.scroller.scrollTop;
		this.boxes = [];
		let y = rowTop(root) - top;
		walkBelow({ node: root, x: 0, y, wide: width }, height, (box) => this.#drawBox(g, box, height, 1));
		for (let node = root.parent; node; node = node.parent)
			this.#drawBox(g, { node, x: 0, y: y -= ROW, wide: width }, height, 0.5);
		if (!this.at) this.#tellOf(root);
		return this.boxes.length;
	}

	/**
	 * @param {CanvasRenderingContext2D} g
	 * @param {Box} box
	 * @param {number} height of the visible part
	 * @param {number} alpha
	 */
	#drawBox(g, box, height, alpha) {
		const { node, x, y, wide } = box, { search, state } = this.app;
		if (y + ROW <= 0 || y >= height) return;
		const isMatch = search.isOn && node.func >= 0 && this.isMatch(node);
		const isChosen = node.func >= 0 && this.keyOf(node) === state.func;
		const strength = search.isOn && !isMatch ? 0.3 : alpha;
		g.globalAlpha = strength;
		g.fillStyle = node.func < 0 ? colors.line : this.fill(node);
		g.fillRect(x, y, Math.max(0.5, wide - 0.7), ROW - 1.5);
		g.globalAlpha = 1;
		if (isMatch || isChosen || node === this.at) {
			g.strokeStyle = isMatch ? colors.mark : colors.text;
			g.strokeRect(x + 0.5, y + 0.5, Math.max(1, wide - 1.7), ROW - 2.5);
		}
		if (wide > 22) {
			const color = node.func < 0 || strength < 1 ? colors.text : colors["bar-text"];
			const label = this.label(node), text = label.length <= lettersIn(wide) ? label : this.name(node);
			drawLabel(g, text, x, y + ROW / 2 - 0.5, wide, color);
		}
		this.boxes.push(box);
	}

	/** @param {{ x: number, y: number }} place */
	boxAt({ x, y }) {
		return this.boxes.find((b) => x >= b.x && x < b.x + b.wide && y >= b.y && y < b.y + ROW);
	}

	/** @param {PointerEvent} event */
	#hover(event) {
		const box = this.boxAt(pointIn(this.canvas, event));
		if (box) showTip(event, this.name(box.node), ...this.numbers(box.node));
		else hideTip();
	}

	/** @param {KeyboardEvent} event */
	#onKey(event) {
		const at = this.at || this.root || this.makeTree();
		const beside = at.parent ? at.parent.sorted() : [at], k = beside.indexOf(at);
		/** @type {Record<string, FlameNode | null | undefined>} */
		const to = {
			ArrowUp: at.parent, ArrowDown: at.sorted()[0],
			ArrowLeft: beside[k - 1], ArrowRight: beside[k + 1],
		};
		if (!(event.key in to) && event.key !== "Enter") return;
		event.preventDefault();
		event.stopPropagation();
		const node = to[event.key];
		if (event.key === "Enter") this.zoomTo(at);
		else if (node) this.#goTo(node);
	}
}
