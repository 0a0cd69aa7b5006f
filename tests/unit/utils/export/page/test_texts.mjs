/** Numbers as people read them, ranges as report takes them, and the address. */
import assert from "node:assert";
import test from "node:test";
import { findTicks } from "../../../../../utils/export/page/ui/canvas.js";
import { parseRange, parseZoom, rangeText } from "../../../../../utils/export/page/model/range_text.js";
import { count, tickText, timeText } from "../../../../../utils/export/page/model/text.js";
import { fromFragment, State, toFragment } from "../../../../../utils/export/page/state/state.js";

test("times", () => {
	for (const [ns, text] of [[0, "0 ns"], [-0.2, "0 ns"], [999.4, "999 ns"], [1000, "1.000 µs"],
		[1234567, "1.235 ms"], [4811e6, "4.811 s"], [-1500, "-1.500 µs"], [259200e9, "259,200.000 s"]])
		assert.equal(timeText(ns), text);
	assert.equal(count(1, "call"), "1 call");
	assert.equal(count(2000, "call"), "2,000 calls");
});

test("ticks of an axis have one unit, and tell each other apart", () => {
	assert.equal(tickText(4.5e9, 1e8, 4.8e9), "4.5 s");
	assert.equal(tickText(-0.001, 1e6, 2e6), "0 ms");
	assert.equal(tickText(12e6, 2e6, 30e6), "12 ms");
	for (const [from, to] of [[0, 100], [4.5e9, 4.9e9], [123456, 123999], [-5, 5e9]]) {
		const texts = findTicks({ from, to }, 0, 1200).map((tick) => tick.text);
		assert.equal(new Set(texts).size, texts.length);
		assert.equal(new Set(texts.map((text) => text.split(" ")[1])).size, 1);
	}
});

const ALL = { first: 50, last: 5e9, meta: { base: "12345000000100", zero: 50 } };

test("ranges, there and back", () => {
	for (const [text, from, to] of [
		["1us~2us", 1050, 2050], ["~1ms", 50, 1000050], ["1.5s~", 1500000050, 5e9],
		["12345.000001100~12345.000002100", 1000, 2000], ["0ns~7nsec", 50, 57],
	]) assert.deepEqual(parseRange(text, ALL), { from, to }, text);
	for (const text of ["", "~", "1ms", "2ms~1ms", "1x~2x", "a~b", "1ms~2ms~3ms"])
		assert.equal(parseRange(text, ALL), null, text);
	for (const range of [{ from: 50, to: 57 }, { from: 1234617, to: 4999999999 }])
		assert.deepEqual(parseRange(rangeText(range, ALL), ALL), range);
	const since1970 = { ...ALL, meta: { base: "1764380000123456789", zero: 50 } };
	assert.deepEqual(parseRange("1764380000.123456790~1764380001.5", since1970), { from: 1, to: 1376543211 });
	assert.equal(rangeText({ from: 1500050, to: 2000050 }, ALL), "1.5ms~2ms");
	assert.equal(rangeText({ from: 50, to: 100050 }, ALL), "0ns~100us");
});

test("a zoom that was typed shows something of the recording", () => {
	assert.deepEqual(parseZoom("1us~2us", ALL), { from: 1050, to: 2050 });
	assert.deepEqual(parseZoom("1us~1us", ALL), { from: 1040, to: 1060 });
	for (const text of ["6s~7s", "99999999s~999999999s", "0~0", "x", "0ns~9s"])
		assert.equal(parseZoom(text, ALL), null, text);
	const { from, to } = parseZoom("4s~9s", ALL);
	assert.ok(from > 0 && to <= 5.2e9);
	// The axis is as wide as it may be. It must end, even if the numbers are too large to tell
	// ticks apart.
	assert.ok(findTicks({ from: 1e18, to: 1e18 + 10 }, 0, 1000).length < 20);
});

test("the address, there and back", () => {
	const state = new State();
	Object.assign(state, {
		view: "flame", zoom: { from: 50, to: 1050 }, range: { from: 150, to: 1150 },
		func: "std::vector<a+b>::f(int&)", search: "/a b|c&d/", hidden: new Set([3, 4]), order: "calls",
		hasWaits: false,
	});
	const text = toFragment(state, ALL);
	assert.match(text, /(^|&)range=100ns~1\.1us(&|$)/);
	assert.deepEqual(fromFragment(`#${text}`, ALL, "timeline"), state);
	assert.deepEqual(fromFragment("#view=nonsense&range=x", ALL, "timeline"), new State());
});
