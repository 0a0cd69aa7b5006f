/** Reads the blocks that utils/export/page/blocks.h describes; runs in workers. */
import { ContextTree } from "./context_tree.js";

const BLOCK_COLUMNS = 5;
/** Flags of a call, in the low bits of its depth. */
const IS_OPEN = 1, HAS_TEXT = 2;

/** Reads the numbers of a column, one after the other. */
export class Column {
	/** @param {Uint8Array} bytes */
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		let byte = this.bytes[this.at++];
		if (byte < 128) return byte;
		let value = byte & 127, scale = 128;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte >= 128);
		return value;
	}
}

/**
 * Returns the number of rows of a block, and its columns.
 * @param {Uint8Array} bytes
 */
export function splitBlock(bytes) {
	const head = new Column(bytes), nr = head.next(), lengths = [], columns = [];
	for (let i = 0; i < BLOCK_COLUMNS; i++) lengths.push(head.next());
	let at = head.at;
	for (const length of lengths) {
		columns.push(new Column(bytes.subarray(at, at + length)));
		at += length;
	}
	return { nr, columns };
}

/** Reads the blocks of a task, and makes the task's arrays from them. */
export class TaskDecoder {
	/**
	 * @param {number} calls the number of the task's calls
	 * @param {number} points the number of the task's events
	 */
	constructor(calls, points) {
		this.start = new Float64Array(calls);
		this.dur = new Float64Array(calls);
		this.ctx = new Uint32Array(calls);
		/** @type {Uint32Array | null} */
		this.text = null;
		/** @type {number[]} calls that did not return */
		this.open = [];
		this.tree = new ContextTree();
		this.pointTime = new Float64Array(points);
		this.pointText = new Uint32Array(points);
		this.pointKind = new Uint32Array(points);
		this.nr = 0;
		this.nrPoints = 0;
		this.time = 0;
		this.pointsAt = 0;
		/** @type {number[]} the nodes of the calls that are open, by depth */
		this.stack = [];
		/** @type {number[]} the number of calls at each depth */
		this.perDepth = [];
	}

	/** @param {Uint8Array} bytes */
	addCalls(bytes) {
		const { nr, columns: [starts, depths, durs, funcs, texts] } = splitBlock(bytes);
		const { start, dur, ctx, tree, stack, perDepth } = this;
		let time = this.time, i = this.nr;
		for (const end = i + nr; i < end; i++) {
			time += starts.next();
			const packed = depths.next(), depth = Math.floor(packed / 4);
			start[i] = time;
			dur[i] = durs.next();
			const node = tree.child(depth ? stack[depth - 1] : 0, funcs.next());
			ctx[i] = stack[depth] = node;
			perDepth[depth] = (perDepth[depth] || 0) + 1;
			if (packed & IS_OPEN) this.open.push(i);
			if (packed & HAS_TEXT) {
				if (!this.text) this.text = new Uint32Array(start.length);
				this.text[i] = texts.next();
			}
		}
		this.time = time;
		this.nr = i;
	}

	/** @param {Uint8Array} bytes */
	addPoints(bytes) {
		const { nr, columns: [times, texts, kinds] } = splitBlock(bytes);
		for (let i = 0; i < nr; i++) {
			this.pointsAt += times.next();
			this.pointTime[this.nrPoints] = this.pointsAt;
			this.pointKind[this.nrPoints] = kinds.next();
			this.pointText[this.nrPoints++] = texts.next();
		}
	}

	isComplete() {
		return this.nr === this.start.length && this.nrPoints === this.pointTime.length;
	}

	/** Returns the calls of each depth in the order of time. Each depth is drawn as one row. */
	#rows() {
		const rows = this.perDepth.map((count) => new Uint32Array(count));
		const filled = new Uint32Array(rows.length), { ctx, tree } = this;
		for (let i = 0; i < this.nr; i++) {
			const depth = tree.depth[ctx[i]];
			rows[depth][filled[depth]++] = i;
		}
		return rows;
	}

	/**
	 * Returns for each node the number of calls, the total time of the calls, and the time of
	 * the longest call.
	 */
	#sums() {
		const { nr } = this.tree, { ctx, dur } = this;
		const calls = new Float64Array(nr), total = new Float64Array(nr);
		const longest = new Float64Array(nr);
		for (let i = 0; i < this.nr; i++) {
			const node = ctx[i], ns = dur[i];
			calls[node]++;
			total[node] += ns;
			if (ns > longest[node]) longest[node] = ns;
		}
		return { calls, total, longest };
	}

	finish() {
		const { tree } = this;
		return {
			start: this.start, dur: this.dur, ctx: this.ctx, text: this.text,
			open: Uint32Array.from(this.open), rows: this.#rows(), sums: this.#sums(),
			pointTime: this.pointTime, pointText: this.pointText, pointKind: this.pointKind,
			tree: {
				nr: tree.nr, func: tree.func.slice(0, tree.nr),
				parent: tree.parent.slice(0, tree.nr), depth: tree.depth.slice(0, tree.nr),
			},
		};
	}
}

/**
 * @typedef {Omit<ReturnType<TaskDecoder["finish"]>, "text" | "pointText"> & {
 *     text: Uint32Array | Float64Array | null, pointText: Uint32Array | Float64Array }} TaskArrays
 */

/**
 * Decodes a block of texts. Returns the bytes of all texts, and the offset at which each text
 * starts. One more offset follows: the end of the last text.
 * @param {Uint8Array} block
 */
export function decodeTexts(block) {
	const { nr, columns: [lengths, bytes] } = splitBlock(block);
	const starts = new Uint32Array(nr + 1);
	for (let i = 0; i < nr; i++) starts[i + 1] = starts[i] + lengths.next();
	return { bytes: bytes.bytes.slice(), starts };
}

/** @typedef {ReturnType<typeof decodeTexts>} TextBlock */

/**
 * Makes a block of texts from strings.
 * @param {string[]} texts
 * @returns {TextBlock}
 */
export function encodeTexts(texts) {
	const encoder = new TextEncoder(), starts = new Uint32Array(texts.length + 1);
	texts.forEach((text, i) => { starts[i + 1] = starts[i] + encoder.encode(text).length; });
	return { bytes: encoder.encode(texts.join("")), starts };
}

/** @param {string} text in base64 */
export function fromBase64(text) {
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** @param {Uint8Array} bytes */
export async function unpack(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}
