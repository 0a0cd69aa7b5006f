/** Sums, searches and layouts of small recordings. tests/e2e/views/test_page.py compares them with report. */
import assert from "node:assert";
import test from "node:test";
import { findDurations } from "../../../../../utils/export/page/model/durations.js";
import { makeFlameTree } from "../../../../../utils/export/page/model/flame_tree.js";
import { functionRows, relatives, sumTasks } from "../../../../../utils/export/page/model/functions.js";
import { layOut, packTasks } from "../../../../../utils/export/page/model/layout.js";
import { makeMatcher, Search } from "../../../../../utils/export/page/model/search.js";
import { makeRecording } from "./made.mjs";

const MAIN = [[0, 0, 100, "main"], [10, 1, 40, "fib"], [20, 2, 20, "fib"], [25, 3, 5, "leaf"],
	[60, 1, 20, "linux:schedule"], [90, 1, 5, "leaf"]];
const WORKER = [[30, 0, 50, "work"], [35, 1, 5, "leaf"], [50, 1, 10, "leaf"]];
const made = () => makeRecording([MAIN, WORKER]);

const rowsOf = (recording, range) => Object.fromEntries(
	functionRows(recording, sumTasks(recording, range))
		.map(({ name, calls, total, self, longest }) => [name, [calls, total, self, longest]]));

test("recursive calls count once in totals", () => {
	assert.deepEqual(rowsOf(made(), null), {
		main: [1, 100, 35, 100], fib: [2, 40, 35, 40], leaf: [4, 25, 25, 10],
		"linux:schedule": [1, 20, 20, 20], work: [1, 50, 35, 50],
	});
});

test("a range counts what was entered or left in it", () => {
	// The first record in the range is leaf at 35. A call that began earlier counts from there
	// on, if it ends in the range.
	assert.deepEqual(rowsOf(made(), { from: 32, to: 55 }), {
		fib: [2, 0, 10, 10], leaf: [2, 5, 5, 5],
	});
	assert.deepEqual(rowsOf(made(), { from: 101, to: 200 }), {});
});

test("callers and callees", () => {
	const recording = made(), leaf = recording.names.indexOf("leaf");
	const { callers, callees } = relatives(recording, sumTasks(recording, null), leaf);
	assert.deepEqual(callers.map(({ name, calls, total }) => [name, calls, total]),
		[["work", 2, 15], ["fib", 1, 5], ["main", 1, 5]]);
	assert.deepEqual(callees, []);
});

test("a flame graph with waits and without", () => {
	const recording = made(), all = makeFlameTree(recording, null, true);
	assert.equal(all.total, 150);
	const awake = makeFlameTree(recording, null, false), [main] = awake.sorted();
	assert.deepEqual([awake.total, main.total, main.children.size], [130, 80, 2]);
	const part = makeFlameTree(recording, { from: 40, to: 60 }, true);
	assert.equal(part.total, 40);
});

test("durations", () => {
	const recording = made(), leaf = recording.names.indexOf("leaf");
	const { buckets, slowest } = findDurations(recording, null, leaf);
	assert.equal(buckets.reduce((sum, bucket) => sum + bucket.count, 0), 4);
	assert.deepEqual(slowest.map(([task, i]) => task.dur[i]), [10, 5, 5, 5]);
	for (const { from, to, count } of buckets) assert.ok(from < to && count >= 0);
});

test("what is typed", () => {
	for (const [text, name, is] of [
		["LEAF", "a_leaf", true], ["leaf", "le", false], ["a.b", "a.b", true], ["a.b", "axb", false],
		["/a.b/", "axb", true], ["/^leaf$/", "leaf", true], ["^le", "a_leaf", false],
		["read|write", "fwrite", true], ["operator[]", "operator[]", true], ["(2)", "f(2)", true],
		["/LEAF/", "leaf", true],
	]) assert.equal(makeMatcher(text)(name), is, `${text} ${name}`);
	assert.equal(makeMatcher("/(/"), null);
});

test("matches in the order of time, round and round, and back", () => {
	const recording = made(), search = new Search(recording, "leaf");
	assert.equal(search.calls, 4);
	const visited = [];
	let call = null;
	for (let k = 1; k <= 5; k++) {
		call = search.next(call, 1);
		visited.push(call[0].start[call[1]]);
		assert.equal(search.place(call), (k - 1) % 4 + 1);
	}
	assert.deepEqual(visited, [25, 35, 50, 90, 25]);
	call = search.next(call, -1);
	assert.equal(call[0].start[call[1]], 90);
	assert.equal(new Search(recording, "2").calls, WORKER.length);
	assert.equal(new Search(recording, "nothing").next(null, 1), null);
});

test("the time that a call took itself, and who made it", () => {
	const [main] = made().tasks;
	assert.deepEqual(MAIN.map((_, i) => main.self(i)), [35, 20, 15, 5, 20, 5]);
	assert.deepEqual(MAIN.map((_, i) => main.parent(i)), [-1, 0, 1, 2, 0, 0]);
	assert.equal(main.cpu, 80);
});

test("short threads share lines", () => {
	const recording = makeRecording(Array.from({ length: 30 }, (_, i) => [[i * 10, 0, 5, "work"]]));
	const state = { hidden: new Set(), pinned: new Set(), order: "start" };
	assert.equal(packTasks(recording.tasks, 300, new Set()).length, 1);
	assert.equal(packTasks(recording.tasks, 300, new Set([4])).length, 2);
	assert.equal(packTasks(recording.tasks.slice(0, 12), 300, new Set()).length, 12);
	const [strip] = layOut(recording, state, new Set());
	assert.equal(strip.about, "30 threads, 30 calls");
	const few = makeRecording([MAIN, WORKER]);
	const order = (by) => layOut(few, { ...state, order: by }, new Set()).map(({ title }) => title);
	assert.deepEqual(order("calls"), ["task0", "task1"]);
	assert.deepEqual(layOut(few, { ...state, hidden: new Set([1]) }, new Set()).map((s) => s.title), ["task1"]);
});

test("a name after those of many functions", () => {
	const recording = made(), many = 200000;
	recording.names = Array.from({ length: many }, (_, i) => `f${i}`);
	recording.keys = [...recording.names];
	recording.isWait = new Uint8Array(many);
	recording.isWait[7] = 1;
	recording.addName("linux:schedule");
	assert.equal(recording.names.length, many + 1);
	assert.deepEqual([recording.isWait.length, recording.isWait[7], recording.isWait[many]], [many + 1, 1, 1]);
});
