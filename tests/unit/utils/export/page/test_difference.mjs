/** Two recordings beside each other. tests/e2e/views/test_diff_page.py compares them with report --diff. */
import assert from "node:assert";
import test from "node:test";
import {
	diffRows, DiffNode, eachNode, makeDiffTree, onlyOf, percentMore, shareScale, showSide,
} from "../../../../../utils/export/page/model/difference.js";
import { makeFlameTree } from "../../../../../utils/export/page/model/flame_tree.js";
import { functionRows, sumTasks } from "../../../../../utils/export/page/model/functions.js";
import { Recording } from "../../../../../utils/export/page/model/recording.js";
import { exactly, makeMatcher } from "../../../../../utils/export/page/model/search.js";
import { changeText, percentText } from "../../../../../utils/export/page/model/text.js";
import { changeColor } from "../../../../../utils/export/page/views/diff_flame.js";
import { makeRecording } from "./made.mjs";

const BASE = [[0, 0, 100, "main"], [10, 1, 40, "parse"], [20, 2, 10, "leaf"], [60, 1, 20, "leaf"]];
const PAIR = [[0, 0, 150, "main"], [10, 1, 10, "leaf"], [30, 1, 90, "cache"], [40, 2, 30, "leaf"], [80, 2, 30, "leaf"]];

test("rows go together by name", () => {
	const [base, pair] = [BASE, PAIR].map((calls) => {
		const recording = makeRecording([calls]);
		return functionRows(recording, sumTasks(recording, null));
	});
	const rows = Object.fromEntries(diffRows(base, pair).map(({ name, base: b, pair: p }) =>
		[name, [b.calls, b.total, b.self, p.calls, p.total, p.self]]));
	assert.deepEqual(rows, {
		main: [1, 100, 40, 1, 150, 50], parse: [1, 40, 30, 0, 0, 0], leaf: [2, 30, 30, 3, 70, 70],
		cache: [0, 0, 0, 1, 90, 30],
	});
	assert.deepEqual(diffRows([], []), []);
	// Functions of two modules may have the same name.
	const [twice] = diffRows([base[0], base[0]], []);
	assert.deepEqual([twice.base.calls, twice.base.total], [2, 200]);
});

function makeTree() {
	const recordings = [makeRecording([BASE]), makeRecording([PAIR])];
	const names = [...new Set(recordings.flatMap((r) => r.names))];
	const [base, pair] = recordings.map((r) => makeFlameTree(r, null, true));
	const tree = makeDiffTree(base, pair, (side, func) => names.indexOf(recordings[side === "base" ? 0 : 1].names[func]));
	return { tree, nameOf: (node) => names[node.func] };
}

test("a tree of both, with the widths of one", () => {
	const { tree, nameOf } = makeTree(), [main] = tree.below;
	assert.deepEqual([tree.base.total, tree.pair.total], [100, 150]);
	const shown = (side) => {
		showSide(tree, side);
		return main.sorted().filter((node) => node.calls).map((node) => [nameOf(node), node.total]);
	};
	assert.deepEqual(shown("base"), [["parse", 40], ["leaf", 20]]);
	assert.deepEqual(shown("pair"), [["cache", 90], ["leaf", 10]]);
	const changes = Object.fromEntries(main.below.map((node) => [nameOf(node), node.change]));
	assert.deepEqual(changes, { parse: -1, leaf: -0.5, cache: 1 });
});

test("what one of them has alone, without what is below", () => {
	const { tree, nameOf } = makeTree();
	assert.deepEqual(onlyOf(tree, "base").map(nameOf), ["parse"]);
	assert.deepEqual(onlyOf(tree, "pair").map(nameOf), ["cache"]);
	const nothing = makeFlameTree(makeRecording([]), null, true);
	assert.deepEqual(onlyOf(makeDiffTree(nothing, nothing, (_, func) => func), "base"), []);
});

test("a function that calls many others", () => {
	const root = new DiffNode(-1, null);
	for (let func = 0; func < 200000; func++) root.children.set(func, new DiffNode(func, root));
	let nr = 0;
	eachNode(root, () => { nr++; });
	assert.equal(nr, 200001);
});

test("a deep path takes no stack", () => {
	const deep = makeRecording([Array.from({ length: 30000 }, (_, i) => [i, i, 60001 - 2 * i, "f"])]);
	const tree = makeFlameTree(deep, null, true), both = makeDiffTree(tree, tree, (_, func) => func);
	showSide(both, "pair");
	assert.deepEqual(onlyOf(both, "pair"), []);
});

test("recordings begin at the same time, and share the longer one's scale", () => {
	const meta = (zero, start, end) => ({
		title: "", cmdline: "", date: "", base: "1000", zero, functions: ["f"], texts: [],
		tasks: [{ pid: 1, tid: 1, calls: 1, points: 1, depth: 1, start, end, name: "t" }],
		executions: [{ pid: 1, process: 1, start: start - 5, dur: 3, name: "t", command: "", cwd: "" }],
	});
	const base = new Recording(meta(10, 10, 60)), pair = new Recording(meta(50, 50, 300), base.meta.zero);
	assert.deepEqual([pair.meta.zero, pair.meta.base, pair.shift, pair.last], [10, "1040", -40, 260]);
	assert.deepEqual(pair.meta.executions[0].start, 5);
	pair.fill(0, {
		start: Float64Array.of(50), dur: Float64Array.of(9), ctx: Uint32Array.of(1), text: null, open: new Uint32Array(0),
		rows: [Uint32Array.of(0)], pointTime: Float64Array.of(70), pointText: Uint32Array.of(0),
		sums: { calls: Float64Array.of(0, 1), total: Float64Array.of(0, 9), longest: Float64Array.of(0, 9) },
		tree: { nr: 2, func: Int32Array.of(-1, 0), parent: Int32Array.of(-1, 0), depth: Int32Array.of(-1, 0) },
	});
	assert.deepEqual([pair.tasks[0].start[0], pair.tasks[0].pointTime[0]], [10, 30]);
	shareScale([base, pair]);
	assert.deepEqual([base.first, base.last, pair.first, pair.last], [5, 260, 5, 260]);
	assert.deepEqual([base.length, pair.length], [55, 255]);
	// A recording that filters have emptied does not count.
	const empty = new Recording({ ...meta(0, 0, 0), tasks: [], executions: [] }, 10);
	shareScale([empty, pair]);
	assert.deepEqual([empty.length, empty.first, empty.last, pair.first], [0, 5, 260, 5]);
});

test("changes in words and colours", () => {
	assert.deepEqual([percentMore(0, 5), percentMore(5, 0), percentMore(50, 75)], [null, null, 50]);
	assert.deepEqual([1500, -1500, 0, 0.2].map(changeText), ["+1.500 µs", "-1.500 µs", "0 ns", "0 ns"]);
	assert.deepEqual([12.345, -0.001, 0.001, 0].map(percentText), ["+12.35 %", "0.00 %", "0.00 %", "0.00 %"]);
	assert.equal(changeColor(0.005), "#e2e2de");
	assert.match(changeColor(0.5), /^hsl\(4 /);
	assert.match(changeColor(-1), /^hsl\(212 85% 58%\)$/);
});

test("one name, exactly", () => {
	for (const name of ["std::vector<int>::at(unsigned long)", "a/b", "operator[]", "f", "x\\n$^"]) {
		assert.ok(makeMatcher(exactly(name))(name), name);
		assert.ok(!makeMatcher(exactly(name))(`${name}x`), name);
		assert.ok(!makeMatcher(exactly("f"))("F"));
	}
});
