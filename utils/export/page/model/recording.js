/** A recording in the page. */
import { encodeTexts } from "../data/decode.js";
import { Task } from "./task.js";
import { makeLanes } from "./lanes.js";
import { Sources } from "./sources.js";

/**
 * @typedef {object} Execution of a program by a process
 * @property {number} pid
 * @property {number} process
 * @property {number} start
 * @property {number} dur
 * @property {string} name
 * @property {string} command
 * @property {string} cwd
 * @property {number} [parent]
 * @property {number} [status]
 * @property {number} [signal]
 */

/**
 * @typedef {object} Meta the JSON from exp_html.c
 * @property {string} title
 * @property {string} cmdline
 * @property {string} [dir] the recording's directory, only in a page that compares two recordings
 * @property {string} date
 * @property {"whole" | "parts"} [served] the page comes from a server, which also answers requests
 * for more data
 * @property {string} base a timestamp in ns. The times in this object are in ns since base. A
 * double cannot hold base exactly, so base is a text
 * @property {number} zero the time of the first record, in ns since base. The page displays times
 * relative to the first record
 * @property {import("./task.js").TaskInfo[]} tasks
 * @property {string[]} functions
 * @property {string[]} texts the texts of calls and events. If the page has many texts, this array
 * is empty, and blocks contain the texts
 * @property {number} [lost] number of lost records
 * @property {number} [leftOut] number of further executions, which `executions` does not contain
 * because there are too many for a page
 * @property {Execution[]} executions
 * @property {import("./events.js").Kind[]} [kinds] of events
 * @property {number[]} [places] of functions in sources
 * @property {import("./sources.js").SourceFile[]} [sources]
 */

/** @typedef {{ from: number, to: number }} Range in ns since base (Meta) */

/**
 * A function whose name begins with this prefix stands for a wait. During a call to such a
 * function, the thread did not run.
 */
const WAIT = "linux:schedule";

/**
 * Returns a copy of `meta`. In the copy, `base` is smaller by `shift`, and the times since base are
 * larger by `shift`.
 * @param {Meta} meta
 * @param {number} shift in ns
 * @returns {Meta}
 */
const shiftMeta = (meta, shift) => ({
	...meta, base: String(BigInt(meta.base) - BigInt(shift)), zero: meta.zero + shift,
	tasks: meta.tasks.map((task) => ({ ...task, start: task.start + shift, end: task.end + shift })),
	executions: meta.executions.map((e) => ({ ...e, start: e.start + shift })),
});

/** @param {string[]} names */
function makeKeys(names) {
	/** @type {Map<string, number>} */
	const seen = new Map();
	return names.map((name) => {
		const nr = (seen.get(name) || 0) + 1;
		seen.set(name, nr);
		return nr > 1 ? `${name} [${nr}]` : name;
	});
}

export class Recording {
	/**
	 * @param {Meta} meta
	 * @param {number} zero the time at which the first record is shown. In a comparison, the
	 * second recording gets meta.zero of the first recording. So both recordings begin at the
	 * same time
	 */
	constructor(meta, zero = meta.zero) {
		this.shift = zero - meta.zero;
		this.meta = this.shift ? shiftMeta(meta, this.shift) : meta;
		meta = this.meta;
		const programs = [...new Set(meta.executions.map((e) => e.name))];
		/** Names of functions, and then of programs. */
		this.names = meta.functions.concat(programs);
		/**
		 * The names, with numbers that make them unique: different functions may have the
		 * same name.
		 */
		this.keys = makeKeys(this.names);
		this.isWait = Uint8Array.from(this.names, (name) => (name.startsWith(WAIT) ? 1 : 0));
		this.tasks = meta.tasks.map((info, i) => new Task(info, i));
		this.kinds = meta.kinds || [];
		this.sources = new Sources(meta.places || [], meta.sources || []);
		this.lanes = makeLanes(meta.executions,
			new Map(programs.map((name, i) => [name, meta.functions.length + i])));
		this.textBlocks = meta.texts.length ? [encodeTexts(meta.texts)] : [];
		/**
		 * The colour of each function. readColors() sets the colours.
		 * @type {string[]}
		 */
		this.fills = [];
		/**
		 * The supplier of calls, if the page does not have all of them.
		 * @type {import("../data/served.js").Supplier | null}
		 */
		this.supplier = null;
		/**
		 * The number of calls of each function, if a server sends the recording in parts.
		 * @type {number[]}
		 */
		this.functionCalls = [];
		this.calls = 0;
		this.first = 0;
		this.last = 1;
		/**
		 * The recording's length, which shareScale() does not change. It is 0 if there is
		 * nothing to show.
		 */
		this.length = 1;
		this.#measure();
	}

	#measure() {
		const { meta } = this;
		this.calls = meta.tasks.reduce((sum, info) => sum + info.calls, 0);
		let first = Infinity, last = 0;
		for (const { start, end } of meta.tasks) {
			first = Math.min(first, start);
			last = Math.max(last, end);
		}
		for (const { start, dur } of meta.executions) {
			first = Math.min(first, start);
			last = Math.max(last, start + dur);
		}
		this.first = Math.min(first, last);
		this.last = first < last ? last : this.first + 1;
		this.length = first <= last ? this.last - this.first : 0;
	}

	/** @param {string} name */
	addName(name) {
		this.names.push(name);
		this.keys.push(name);
		// Engines limit the number of arguments of a call, so the old values are not spread.
		const isWait = new Uint8Array(this.isWait.length + 1);
		isWait.set(this.isWait);
		isWait[this.isWait.length] = name.startsWith(WAIT) ? 1 : 0;
		this.isWait = isWait;
	}

	/**
	 * Adds the data that the server has read since the last call of grow().
	 * @param {import("../data/served.js").ReadingState} state its member `functions`
	 * contains the names of all functions of the recording, not only of the new functions
	 */
	grow({ base, zero, tasks, functions, calls, kinds, lost, leftOut }) {
		this.meta = { ...this.meta, base, zero, tasks, functions, lost, leftOut };
		this.kinds = kinds;
		this.names = functions;
		this.keys = makeKeys(functions);
		this.isWait = Uint8Array.from(functions, (name) => (name.startsWith(WAIT) ? 1 : 0));
		this.functionCalls = calls;
		this.tasks.length = Math.min(this.tasks.length, tasks.length);
		tasks.forEach((info, i) => {
			const task = this.tasks[i];
			if (task && task.tid === info.tid) task.info = info;
			else this.tasks[i] = new Task(info, i);
		});
		this.#measure();
	}

	/**
	 * Sets the processes of a recording that the page gets in parts from a server.
	 * @param {Execution[]} executions
	 * @param {(name: string) => number} numberOf
	 */
	setExecutions(executions, numberOf) {
		this.meta = { ...this.meta, executions };
		this.lanes = makeLanes(executions, new Map(executions.map(({ name }) => [name, numberOf(name)])));
		this.#measure();
	}

	/**
	 * Stores the data of a task after the data was read.
	 * @param {number} task
	 * @param {import("../data/decode.js").TaskArrays} arrays
	 */
	fill(task, arrays) {
		const { shift } = this, { start, pointTime } = arrays;
		if (shift) for (let i = 0; i < start.length; i++) start[i] += shift;
		if (shift) for (let i = 0; i < pointTime.length; i++) pointTime[i] += shift;
		this.tasks[task].fill(arrays, this.isWait);
	}

	/**
	 * Returns a text of the recording: the arguments of a call, or the text of an event.
	 * @param {number} number the number of the text, counted from 1
	 */
	text(number) {
		if (this.supplier) return this.supplier.text(number);
		let at = number - 1;
		for (const { bytes, starts } of this.textBlocks) {
			const nr = starts.length - 1;
			if (at < nr) return new TextDecoder().decode(bytes.subarray(starts[at], starts[at + 1]));
			at -= nr;
		}
		return "";
	}

	/** @param {Range | null} range */
	isWhole(range) {
		return !range || (range.from <= this.first && range.to >= this.last);
	}
}
