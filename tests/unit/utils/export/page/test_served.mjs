/** A recording in parts: what the server sends, and what the page makes of it. */
import assert from "node:assert";
import test from "node:test";
import { decodeCalls, growTree, Supplier } from "../../../../../utils/export/page/data/served.js";
import { placeOf } from "../../../../../utils/export/page/model/events.js";
import { Task } from "../../../../../utils/export/page/model/task.js";

/**
 * Encodes a part of a recording as answers.c writes it.
 * @param {number} task
 * @param {[start: number, dur: number, self: number, node: number, isOpen: number][]} calls
 * @param {[func: number, parent: number][]} nodes those below the first
 * @param {[time: number, text: number, depth: number][]} points
 * @param {number[] | null} texts of calls
 */
function encode(task, calls, nodes, points = [], texts = null) {
	const nr = nodes.length + 1;
	const words = (list) => Buffer.from(Uint32Array.from(list).buffer);
	const floats = (list) => Buffer.from(Float64Array.from(list).buffer);
	return Buffer.concat([
		words([task, calls.length, nr, points.length, texts ? 1 : 0, 0]),
		...[0, 1, 2].map((k) => floats(calls.map((call) => call[k]))), floats(texts || []),
		...[0, 1].map((k) => floats(points.map((point) => point[k]))),
		...[3, 4].map((k) => words(calls.map((call) => call[k]))),
		...[0, 1].map((k) => words([2 ** 32 - 1, ...nodes.map((node) => node[k])])),
		words(points.map((point) => point[2])), words(points.length % 2 ? [0] : []),
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

test("arguments and events; texts may have large numbers", () => {
	const texts = [2 ** 40, 0, 7, 2 ** 52], points = [[5, 2 ** 41, 1], [5, 3, 4097], [60, 9, 0]];
	const bytes = Buffer.concat([encode(4, CALLS, TREE, points, texts), encode(5, CALLS, TREE)]);
	const found = decodeCalls(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	assert.deepEqual(found.map(({ task }) => task), [4, 5]);
	const task = new Task(INFO, 0);
	task.fill(found[0].arrays, new Uint8Array(8));
	assert.deepEqual([...task.text], texts);
	assert.deepEqual([...task.pointTime], [5, 5, 60]);
	assert.deepEqual([...task.pointText], [2 ** 41, 3, 9]);
	assert.deepEqual([...task.pointKind], [1, 1, 0]);
	assert.deepEqual([...task.pointDepth], [1, 4097, 0]);
	assert.equal(found[1].arrays.text, null);
	assert.deepEqual(CALLS.map((_, i) => task.func(i)), [5, 6, 5, 6]);
	// If several points have one time, the kind tells them apart. A point that is missing is put
	// into its place.
	assert.equal(placeOf(task, { time: 5, kind: 1, depth: 4097, text: 3 }), 1);
	assert.equal(placeOf(task, { time: 30, kind: 2, depth: 2, text: 2 ** 45 }), 2);
	assert.deepEqual([...task.pointTime], [5, 5, 30, 60]);
	assert.deepEqual([...task.pointText], [2 ** 41, 3, 2 ** 45, 9]);
});

test("texts are asked for together, one question at a time, and once", async () => {
	const put = globalThis.fetch, supplier = new Supplier(null), asked = [];
	let told = () => {};
	supplier.onText = () => told();
	globalThis.fetch = async (question) => {
		asked.push(question);
		const numbers = new URLSearchParams(question.split("?")[1]).get("of").split(",");
		return { ok: true, json: async () => numbers.map((number) => `(${number})`) };
	};
	try {
		const first = new Promise((resolve) => { told = resolve; });
		assert.deepEqual([supplier.text(7), supplier.text(8)], [" …", " …"]);
		// The page scrolls past many texts during a request. The next request is for the last of
		// these texts.
		await first;
		assert.deepEqual([supplier.text(7), supplier.text(8)], ["(7)", "(8)"]);
		const second = new Promise((resolve) => { told = resolve; });
		for (let number = 100; number < 300; number++) supplier.text(number);
		await second;
		assert.equal(supplier.text(299), "(299)");
		assert.deepEqual([asked.length, asked[0]], [2, "texts?generation=0&of=7,8"]);
		assert.equal(asked[1].split(",").length, 64);
		// A text that the server does not have is not asked for again and again.
		globalThis.fetch = async () => ({ ok: false });
		const third = new Promise((resolve) => { told = resolve; });
		supplier.text(5);
		await third;
		assert.equal(supplier.text(5), "");
	} finally {
		globalThis.fetch = put;
	}
});

test("a sum that takes long says how far it is, until it is there", async () => {
	const put = globalThis.fetch, supplier = new Supplier({ isWhole: () => true }), parts = [];
	let answer = () => {}, tell = () => {};
	supplier.isDone = true;
	supplier.onProgress = (part) => { parts.push(part); tell(); };
	globalThis.fetch = (question) => (question === "progress"
		? Promise.resolve({ ok: true, json: async () => ({ part: 0.5 }) })
		: new Promise((resolve) => { answer = () => resolve({ ok: true, json: async () => [] }); }));
	try {
		const told = new Promise((resolve) => { tell = resolve; });
		assert.equal(supplier.functions(null), undefined);
		await told;
		assert.equal(parts[0], 0.5);
		const there = new Promise((resolve) => { supplier.onAnswer = () => resolve(); });
		answer();
		await there;
		assert.equal(parts.at(-1), null);
		assert.deepEqual(supplier.functions(null), []);
	} finally {
		globalThis.fetch = put;
	}
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
