/** Makes recordings for a test, in the form in which pages have them. */
import { TaskDecoder } from "../../../../../utils/export/page/data/decode.js";
import { Recording } from "../../../../../utils/export/page/model/recording.js";

/** @param {number} value */
export function varint(value) {
	const bytes = [];
	for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
	return [...bytes, value];
}

/**
 * Makes a block of columns of numbers. A column that is null consists of the bytes of @raw.
 * @param {(number[] | null)[]} columns
 * @param {number[]} raw
 */
export function makeBlock(columns, raw = []) {
	const all = Array.from({ length: 5 }, (_, i) =>
		(columns[i] === null ? raw : (columns[i] || []).flatMap(varint)));
	return Uint8Array.from([
		...varint(columns[0].length), ...all.flatMap((bytes) => varint(bytes.length)), ...all.flat(),
	]);
}

/**
 * Makes a recording of tasks. Each task is a list of calls: [start, depth, duration, name of the function].
 * @param {[number, number, number, string][][]} tasks
 */
export function makeRecording(tasks) {
	const functions = [...new Set(tasks.flat().map(([, , , name]) => name))];
	const recording = new Recording({
		title: "made", cmdline: "", date: "", base: "1000000007", zero: 0, functions, texts: [],
		executions: [], tasks: tasks.map((calls, i) => ({
			pid: 1, tid: i + 1, calls: calls.length, points: 0, name: `task${i}`,
			depth: Math.max(...calls.map(([, depth]) => depth + 1)), start: calls[0][0],
			end: Math.max(...calls.map(([start, , dur]) => start + dur)),
		})),
	});
	tasks.forEach((calls, i) => {
		const decoder = new TaskDecoder(calls.length, 0);
		decoder.addCalls(makeBlock([
			calls.map(([start], k) => start - (k ? calls[k - 1][0] : 0)),
			calls.map(([, depth]) => depth * 4), calls.map(([, , dur]) => dur),
			calls.map(([, , , name]) => functions.indexOf(name)),
		]));
		recording.tasks[i].fill(decoder.finish(), recording.isWait);
	});
	return recording;
}
