/** A recording in parts: what the server sends, and what the page makes of it. */
import assert from "node:assert";
import test from "node:test";
import { decodeCalls, growTree, Supplier } from "../../../../../utils/export/page/data/served.js";
import { Task } from "../../../../../utils/export/page/model/task.js";

/**
 * As answers.c writes it.
 * @param {number} task
 * @param {[start: number, dur: number, self: number, node: number, isOpen: number][]} calls
 * @param {[func: number, parent: number][]} nodes those below the first
 */
function encode(task, calls, nodes) {
	const nr = nodes.length + 1;
	const words = (list) => Buffer.from(Uint32Array.from(list).buffer);
	const floats = (list) => Buffer.from(Float64Array.from(list).buffer);
	return Buffer.concat([
		words([task, calls.length, nr, 0]), ...[0, 1, 2].map((k) => floats(calls.map((call) => call[k]))),
		...[3, 4].map((k) => words(calls.map((call) => call[k]))),
		...[0, 1].map((k) => words([2 ** 32 - 1, ...nodes.map((node) => node[k])])),
	]);
}

const TREE = [[5, 0], [6, 1], [5, 2]];
const CALLS = [[0, 100, 40, 1, 1], [10, 50, 20, 2, 0], [20, 30, 30, 3, 0], [70, 10, 10, 2, 0]];
const INFO = { pid: 1, tid: 1, calls: 9, points: 0, depth: 3, start: 0, end: 100, name: "t" };

test("calls of two tasks", () => {
	const bytes = Buffer.concat([encode(4, CALLS, TREE), encode(7, [], [])]);
	const found = decodeCalls(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	assert.deepEqual(found.map(({ task }) => task), [4, 7]);
	const task = new Task(INFO, 0);
	task.fill(found[0].arrays, new Uint8Array(8));
	assert.deepEqual(CALLS.map((_, i) => task.func(i)), [5, 6, 5, 6]);
	assert.deepEqual(CALLS.map((_, i) => task.depth(i)), [0, 1, 2, 1]);
	assert.deepEqual(CALLS.map((_, i) => task.self(i)), [40, 20, 30, 10]);
	assert.deepEqual(CALLS.map((_, i) => task.caller(i)), [-1, 5, 6, 5]);
	assert.deepEqual(task.rows.map((row) => [...row]), [[0], [1, 3], [2]]);
	assert.deepEqual([...task.open], [0]);
	assert.equal(found[1].arrays.start.length, 0);
});

test("a flame graph, with and without waits", () => {
	const names = ["main", "work", "wait"], number = (name) => names.indexOf(name);
	const nodes = [[0, "main", 1, 100], [1, "work", 3, 60], [2, "wait", 2, 20], [1, "wait", 1, 10], [0, "work", 1, 5]];
	const all = growTree(nodes, number, () => false), main = all.children.get(0);
	assert.deepEqual([all.total, main.total, main.self, main.children.get(1).self], [105, 100, 30, 40]);
	const bare = growTree(nodes, number, (func) => func === 2), few = bare.children.get(0);
	assert.deepEqual([bare.total, few.total, few.self, few.children.get(1).total], [75, 70, 30, 40]);
	assert.equal(few.children.has(2), false);
});

test("a connection may break once; when the next one does, the server has ended", async () => {
	const put = globalThis.fetch, supplier = new Supplier(null);
	let asked = 0, ends = 0, broken = [1];
	supplier.onEnd = () => { ends++; };
	globalThis.fetch = async () => {
		if (broken.includes(++asked)) throw new TypeError("Failed to fetch");
		return { ok: true, json: async () => ({ task: 3 }) };
	};
	try {
		assert.deepEqual(await supplier.search([1], null, 1), { task: 3 });
		assert.deepEqual([asked, ends, supplier.hasEnded], [2, 0, false]);
		broken = [3, 4, 5, 6];
		await Promise.all([1, 2].map(() => assert.rejects(supplier.search([1], null, 1))));
		assert.deepEqual([ends, supplier.hasEnded], [1, true]);
		const before = asked;
		await assert.rejects(supplier.search([1], null, 1), /utrail show has ended/);
		assert.equal(asked, before);
	} finally {
		globalThis.fetch = put;
	}
});
