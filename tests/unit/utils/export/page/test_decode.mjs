/** Blocks become arrays, in one piece or in several. */
import assert from "node:assert";
import test from "node:test";
import { ContextTree } from "../../../../../utils/export/page/data/context_tree.js";
import {
	Column, decodeTexts, encodeTexts, TaskDecoder,
} from "../../../../../utils/export/page/data/decode.js";
import { shareTasks } from "../../../../../utils/export/page/data/load.js";
import { makeBlock, varint } from "./made.mjs";

test("numbers of all sizes", () => {
	const numbers = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, 2 ** 52 + 1];
	const column = new Column(Uint8Array.from(numbers.flatMap(varint)));
	assert.deepEqual(numbers.map(() => column.next()), numbers);
});

// The calls main { a { b } a }, and a second main that is open: start, depth, duration, function.
const CALLS = [[5, 0, 90, 0], [10, 1, 20, 1], [15, 2, 5, 2], [40, 1, 30, 1], [200, 0, 7, 0, 1]];

/** @param {number[]} sizes of blocks */
function decode(sizes) {
	const decoder = new TaskDecoder(CALLS.length, 0);
	let at = 0, last = 0;
	for (const size of sizes) {
		const rows = CALLS.slice(at, at + size);
		decoder.addCalls(makeBlock([
			rows.map(([start], i) => start - (i ? rows[i - 1][0] : last)),
			rows.map(([, depth, , , isOpen = 0]) => depth * 4 + isOpen),
			rows.map(([, , dur]) => dur), rows.map(([, , , func]) => func),
		]));
		last = rows[rows.length - 1][0];
		at += size;
	}
	assert.ok(decoder.isComplete());
	return decoder.finish();
}

test("calls, wherever a block ends", () => {
	for (const sizes of [[5], [1, 4], [2, 2, 1], [1, 1, 1, 1, 1]]) {
		const { start, dur, ctx, rows, open, sums, tree } = decode(sizes);
		assert.deepEqual([...start], CALLS.map(([ns]) => ns));
		assert.deepEqual([...dur], CALLS.map(([, , ns]) => ns));
		assert.deepEqual([...ctx], [1, 2, 3, 2, 1]);
		assert.deepEqual([...tree.func], [-1, 0, 1, 2]);
		assert.deepEqual(rows.map((row) => [...row]), [[0, 4], [1, 3], [2]]);
		assert.deepEqual([...open], [4]);
		assert.deepEqual([...sums.calls], [0, 2, 2, 1]);
		assert.deepEqual([...sums.total], [0, 97, 50, 5]);
		assert.deepEqual([...sums.longest], [0, 90, 30, 5]);
	}
});

test("a tree that grows keeps its nodes", () => {
	const tree = new ContextTree(), made = [];
	for (let func = 0; func < 1000; func++) made.push(tree.child(func % 7, func));
	for (let func = 0; func < 1000; func++) assert.equal(tree.child(func % 7, func), made[func]);
	assert.equal(tree.nr, 1001);
});

test("texts", () => {
	const texts = ["(1)", "", "größe"], bytes = texts.map((text) => new TextEncoder().encode(text));
	const block = makeBlock([bytes.map((b) => b.length), null], [...bytes.flatMap((b) => [...b])]);
	for (const { bytes: all, starts } of [decodeTexts(block), encodeTexts(texts)])
		assert.deepEqual(texts.map((_, i) =>
			new TextDecoder().decode(all.subarray(starts[i], starts[i + 1]))), texts);
});

test("workers get about the same", () => {
	const shares = shareTasks([{ calls: 10 }, { calls: 90 }, { calls: 50 }, { calls: 40 }], 2);
	assert.deepEqual(shares, [0, 0, 1, 1]);
});
