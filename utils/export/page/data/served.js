/**
 * Requests the calls of a recording from the server, part by part (doc/internals/show.md,
 * "Recordings in parts").
 */
import { FlameNode } from "../model/flame_tree.js";
import { Sources } from "../model/sources.js";

/**
 * The times in ms between two requests about the progress of reading, and between two requests
 * about the growth of a recording.
 */
const SOON_MS = 150, LATER_MS = 2000;
/**
 * While the server sums up calls, the page asks for the server's progress again and again. The page
 * waits this time, in ms, before each such request.
 */
const PROGRESS_MS = 250;
/** The number of texts in a request, and the number of texts that are kept. */
const TEXTS_ASKED = 64, TEXTS_KEPT = 5000;
/**
 * The depth of an event is k + n * KINDS (INDEX_KINDS_MAX in cmds/show/parts/index.h):
 *
 * - k is the number of the event's kind, from 0 to KINDS - 1.
 * - n is the number of earlier events with the same task, time and kind, but at most 15
 *   (INDEX_AT_ONCE). So up to 16 events with the same task, time and kind have different depths.
 */
const KINDS = 4096;
/** The text that is shown until a requested text has been received. */
const COMING = " …";
/** The time after which a failed request is repeated, in ms. */
const AGAIN_MS = 500;
/**
 * A request covers more than the visible range, so that dragging has no delay. On each side, the
 * request adds this fraction of the visible range's width.
 */
const BESIDE = 0.5;

/** @typedef {import("../model/recording.js").Range} Range */
/** @typedef {import("../model/functions.js").FunctionRow} FunctionRow */

/**
 * The server reads the recording. This is the progress of the reading, and its results.
 * @typedef {object} ReadingState
 * @property {number} generation changes when the recording is read again
 * @property {boolean} isDone
 * @property {number} progress from 0 to 1
 * @property {string} base
 * @property {number} zero
 * @property {string} failure
 * @property {import("../model/task.js").TaskInfo[]} tasks
 * @property {string[]} functions the names that the page does not have yet
 * @property {number[]} calls the number of calls of each function, known when isDone is true
 * @property {import("../model/events.js").Kind[]} kinds the kinds of events
 * @property {number} lost the number of lost records
 * @property {boolean} hasProcesses
 * @property {number} leftOut the number of executions of programs that the page does not show
 */

/** @typedef {{ task: number, start: number, dur: number, depth: number, text: number }} Found */

/**
 * Returns the number of an event's kind. The event's depth contains this number (see KINDS).
 * @param {number} depth
 */
export const kindOf = (depth) => depth % KINDS;

/**
 * Decodes the arrays of a task, which cmds/show/parts/answers.c writes.
 * @param {DataView} head
 * @param {number} at
 */
function decodeTask(head, at) {
	const number = (/** @type {number} */ i) => head.getUint32(at + 4 * i, true);
	const task = number(0), n = number(1), nr = number(2), nrPoints = number(3), { buffer } = head;
	let next = at + 24;
	const floats = (/** @type {number} */ many) => {
		next += 8 * many;
		return new Float64Array(buffer, next - 8 * many, many);
	};
	const words = (/** @type {number} */ many) => {
		next += 4 * many;
		return new Uint32Array(buffer, next - 4 * many, many);
	};
	const start = floats(n), dur = floats(n), selfTimes = floats(n), text = number(4) ? floats(n) : null;
	const pointTime = floats(nrPoints), pointText = floats(nrPoints), ctx = words(n), isOpen = words(n);
	const func = new Int32Array(words(nr)), parent = new Int32Array(words(nr)), pointDepth = words(nrPoints);
	const points = { pointTime, pointText, pointKind: pointDepth.map(kindOf), pointDepth };
	const arrays = fillArrays({ start, dur, selfTimes, text, ctx, isOpen, func, parent, nr, ...points });
	return { task, arrays, next: next + 4 * (nrPoints % 2) };
}

/**
 * @param {object} from
 * @param {Float64Array} from.start
 * @param {Float64Array} from.dur
 * @param {Float64Array} from.selfTimes
 * @param {Float64Array | null} from.text
 * @param {Uint32Array} from.ctx
 * @param {Uint32Array} from.isOpen
 * @param {Int32Array} from.func
 * @param {Int32Array} from.parent
 * @param {number} from.nr
 * @param {Float64Array} from.pointTime
 * @param {Float64Array} from.pointText
 * @param {Uint32Array} from.pointKind
 * @param {Uint32Array} from.pointDepth
 * @returns {import("./decode.js").TaskArrays & { selfTimes: Float64Array, pointDepth: Uint32Array }}
 */
function fillArrays({ start, dur, selfTimes, text, ctx, isOpen, func, parent, nr, ...points }) {
	const depth = new Int32Array(nr).fill(-1);
	for (let node = 1; node < nr; node++) depth[node] = depth[parent[node]] + 1;
	/** @type {number[][]} */
	const rows = [];
	/** @type {number[]} */
	const open = [];
	for (let i = 0; i < ctx.length; i++) {
		const row = depth[ctx[i]];
		while (rows.length <= row) rows.push([]);
		rows[row].push(i);
		if (isOpen[i]) open.push(i);
	}
	return {
		start, dur, selfTimes, ctx, text, ...points, open: Uint32Array.from(open),
		rows: rows.map((row) => Uint32Array.from(row)),
		sums: { calls: new Float64Array(nr), total: new Float64Array(nr), longest: new Float64Array(nr) },
		tree: { nr, func, parent, depth },
	};
}

/**
 * @param {ArrayBuffer} bytes
 */
export function decodeCalls(bytes) {
	const head = new DataView(bytes), tasks = [];
	for (let at = 0; at < bytes.byteLength;) {
		const { task, arrays, next } = decodeTask(head, at);
		tasks.push({ task, arrays });
		at = next;
	}
	return tasks;
}

/**
 * Makes the flame graph from nodes in depth-first order: each caller comes before its callees.
 * @param {[depth: number, name: string, calls: number, total: number][]} nodes
 * @param {(name: string) => number} numberOf returns the number of the function with this name
 * @param {(func: number) => boolean} isLeftOut
 */
export function growTree(nodes, numberOf, isLeftOut) {
	const root = new FlameNode(-1, null), path = [root];
	for (const [depth, name, calls, total] of nodes) {
		const above = path[depth], func = numberOf(name);
		if (isLeftOut(func)) {
			for (let n = above; n.parent; n = n.parent) n.total -= total;
			above.self -= total;
			if (above !== root) root.total -= total;
			path[depth + 1] = above;
			continue;
		}
		let at = above.children.get(func);
		if (!at) above.children.set(func, at = new FlameNode(func, above));
		at.calls += calls;
		at.total += total;
		at.self += total;
		above.self -= total;
		if (above === root) root.total += total;
		path[depth + 1] = at;
	}
	return root;
}

export class Supplier {
	/** @param {import("../model/recording.js").Recording} recording */
	constructor(recording) {
		this.recording = recording;
		this.generation = 0;
		this.isDone = false;
		/** Called after each answer, so that the page is drawn again. */
		this.onAnswer = () => {};
		/** True when the server does not answer any more. Then onEnd() is called, once. */
		this.hasEnded = false;
		this.onEnd = () => {};
		/**
		 * Called before arrays of tasks are replaced. Returns a function to call after the
		 * arrays have been replaced.
		 * @type {() => () => void}
		 */
		this.beforeFill = () => () => {};
		this.answered = 0;
		/**
		 * Requests the next or the previous call of some functions. When the answer
		 * arrives, the page shows the found call. Returns false if no request is possible:
		 * the caller then searches the calls in the page.
		 * @type {(funcs: Uint8Array, step: 1 | -1) => boolean}
		 */
		this.goTo = () => false;
		/**
		 * Like goTo(), for events of some kinds.
		 * @type {(kinds: number[], step: 1 | -1) => boolean}
		 */
		this.goToEvent = () => false;
		/**
		 * Called when the server has read the recording again. Each task, function or text
		 * may then have another number. The numbers that the page knows are invalid.
		 */
		this.onNew = () => {};
		/** Called when texts were received. */
		this.onText = () => {};
		/**
		 * Called with the server's progress in summing up calls, from 0 to 1, or with null
		 * if the server computes no sum.
		 * @type {(part: number | null) => void}
		 */
		this.onProgress = () => {};
		this.isFollowing = false;
		/**
		 * The texts that the page has received, by their numbers.
		 * @type {Map<number, string>}
		 */
		this.texts = new Map();
		/**
		 * The numbers of the texts to request.
		 * @type {Set<number>}
		 */
		this.wantedTexts = new Set();
		this.isAskingTexts = false;
		/** The last state.generation whose processes and sources were loaded. */
		this.completed = 0;
		/**
		 * The number of each function. The key is the function's name.
		 * @type {Map<string, number>}
		 */
		this.numbers = new Map();
		/**
		 * When a request for calls ends, `has` gets the description of this request.
		 * `asked` describes the request for the calls that are now wanted. A description
		 * is a text with the range, the width, the tasks and this.turn.
		 */
		this.has = "";
		this.asked = "";
		this.isAsking = false;
		/** The generation, progress and isDone of the last ReadingState, as one text. */
		this.turn = "";
		/**
		 * For each request, the answer; null until the answer arrives.
		 * @type {Map<string, any>}
		 */
		this.answers = new Map();
		/**
		 * For each request that is not answered yet, the controller that can cancel it.
		 * @type {Map<string, AbortController>}
		 */
		this.waiting = new Map();
	}

	/**
	 * Like fetch(), but tries a second time after a failure. If both attempts fail, the server
	 * has ended: no more requests are sent, and onEnd() is called.
	 * @param {string} question
	 * @param {AbortSignal} [signal]
	 */
	async #fetch(question, signal) {
		for (const isLast of [false, true]) {
			if (this.hasEnded) break;
			try { return await fetch(question, { signal }); } catch (error) {
				if (signal?.aborted) throw error;
				if (!isLast) await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
			}
		}
		if (!this.hasEnded) {
			this.hasEnded = true;
			this.onEnd();
		}
		throw new Error("utrail show has ended");
	}

	/**
	 * Repeatedly requests the server's progress. Ends when the server has read the whole
	 * recording.
	 * @param {(progress: number, failure: string) => void} tell
	 */
	async follow(tell) {
		for (;;) {
			const known = this.generation ? this.recording.names.length : 0;
			const question = `state?generation=${this.generation}&known=${known}`;
			/** @type {ReadingState} */
			const state = await (await this.#fetch(question)).json();
			const isChanged = this.#take(state);
			if (state.isDone && this.completed !== state.generation) await this.#complete(state);
			if (isChanged) this.onAnswer();
			tell(state.progress, state.failure);
			if (state.isDone) return;
			await new Promise((resolve) => { setTimeout(resolve, SOON_MS); });
		}
	}

	/** Watches a recording that may grow. Call this after follow(). */
	async watch() {
		for (;;) {
			await new Promise((resolve) => { setTimeout(resolve, LATER_MS); });
			if (!document.hidden) await this.follow(() => {});
		}
	}

	/**
	 * Takes over the server's state. Returns true when the state has changed.
	 * @param {ReadingState} state
	 */
	#take(state) {
		const { recording } = this, isNew = state.generation !== this.generation;
		const turn = `${state.generation} ${state.progress} ${state.isDone}`;
		if (turn === this.turn) return false;
		this.turn = turn;
		this.isDone = state.isDone;
		this.generation = state.generation;
		if (isNew) {
			this.numbers.clear();
			this.answers.clear();
			this.texts.clear();
			this.onNew();
		}
		const from = isNew ? 0 : recording.names.length;
		state.functions.forEach((name, i) => {
			if (!this.numbers.has(name)) this.numbers.set(name, from + i);
		});
		recording.grow({ ...state, functions: (isNew ? [] : recording.names).concat(state.functions) });
		// Functions and programs have numbers in the same table, this.numbers. If the table
		// is new, the programs need new numbers.
		if (isNew && recording.lanes.n) this.#setExecutions(recording.meta.executions);
		return true;
	}

	/** @param {import("../model/recording.js").Execution[]} executions */
	#setExecutions(executions) { this.recording.setExecutions(executions, (name) => this.numberOf(name)); }

	/**
	 * Requests processes and sources, which the server knows after it has read everything.
	 * @param {ReadingState} state
	 */
	async #complete({ generation, hasProcesses }) {
		const { recording } = this, processes = hasProcesses ? await this.#fetch("processes") : null;
		if (processes?.ok) this.#setExecutions(await processes.json());
		const reply = await this.#fetch("sources");
		/** @type {{ places?: number[], sources?: import("../model/sources.js").SourceFile[] }} */
		const { places, sources } = reply.ok ? await reply.json() : {};
		recording.sources = new Sources(places || [], sources || []);
		this.completed = generation;
	}

	/**
	 * Returns the text of a call or an event if the text is known. Otherwise requests the text.
	 * @param {number} number
	 */
	text(number) {
		const known = this.texts.get(number);
		if (known !== undefined) return known;
		if (this.hasEnded) return "";
		this.wantedTexts.add(number);
		if (!this.isAskingTexts) this.#askTexts();
		return COMING;
	}

	/**
	 * Requests the texts that were last added to wantedTexts, at most TEXTS_ASKED. All other
	 * texts are dropped from wantedTexts, because those texts are no longer visible. Only one
	 * request runs at a time.
	 */
	async #askTexts() {
		this.isAskingTexts = true;
		await Promise.resolve();
		const asked = [...this.wantedTexts].slice(-TEXTS_ASKED), { generation } = this;
		this.wantedTexts.clear();
		/** @type {string[]} */
		let texts = [];
		try {
			const reply = await this.#fetch(`texts?generation=${generation}&of=${asked.join(",")}`);
			if (reply.ok) texts = await reply.json();
		} catch { /* The texts of a failed request are empty. */ }
		if (this.texts.size > TEXTS_KEPT) this.texts.clear();
		if (generation === this.generation) asked.forEach((number, i) => this.texts.set(number, texts[i] || ""));
		this.isAskingTexts = false;
		this.onText();
		if (this.wantedTexts.size && !this.isAskingTexts) this.#askTexts();
	}

	/**
	 * Repeatedly requests the server's progress in summing up calls, and passes the progress to
	 * onProgress(). Stops when this.waiting is empty, when the server has ended, or when a
	 * request for the progress fails. At the end, calls onProgress(null).
	 */
	async #followSums() {
		if (this.isFollowing) return;
		this.isFollowing = true;
		for (;;) {
			await new Promise((resolve) => { setTimeout(resolve, PROGRESS_MS); });
			if (!this.waiting.size || this.hasEnded) break;
			try {
				const { part } = await (await this.#fetch("progress")).json();
				if (this.waiting.size) this.onProgress(Math.max(0, part));
			} catch { break; }
		}
		this.isFollowing = false;
		this.onProgress(null);
	}

	/**
	 * Requests the visible calls if they are missing. Only one request runs at a time. When the
	 * answer has arrived, the page draws itself again. If other calls are visible by then, the
	 * page requests them.
	 * @param {Range} view
	 * @param {number} width in pixels
	 * @param {import("../model/task.js").Task[]} tasks
	 */
	want(view, width, tasks) {
		const numbers = tasks.map((task) => task.index).join(",");
		this.asked = `${view.from} ${view.to} ${width} ${numbers} ${this.turn}`;
		if (this.has === this.asked || this.isAsking || this.hasEnded || !numbers) return;
		this.isAsking = true;
		const asked = this.asked, more = (view.to - view.from) * BESIDE;
		const from = Math.max(0, Math.floor(view.from - more)), to = Math.max(0, Math.ceil(view.to + more));
		const wide = Math.round(width * devicePixelRatio * (1 + 2 * BESIDE));
		this.#fetch(`calls?from=${from}&to=${to}&width=${wide}&tasks=${numbers}`).then(async (answer) => {
			if (!answer.ok) return;
			this.#fill(await answer.arrayBuffer());
		}).catch(() => {}).finally(() => {
			this.has = asked;
			this.isAsking = false;
			this.onAnswer();
		});
	}

	/** @param {ArrayBuffer} bytes */
	#fill(bytes) {
		const { recording } = this, after = this.beforeFill();
		for (const { task, arrays } of decodeCalls(bytes)) {
			if (task >= recording.tasks.length) continue;
			// Rows without visible calls keep their place in the picture.
			const { depth } = recording.tasks[task].info;
			while (arrays.rows.length < depth) arrays.rows.push(new Uint32Array(0));
			recording.fill(task, arrays);
		}
		after();
	}

	/**
	 * Cancels the waiting requests whose range differs from the range of the new request. These
	 * requests would keep the server and the browser's few connections busy.
	 * @param {string} question the new request
	 */
	#forget(question) {
		const range = (/** @type {string} */ text) => text.replace(/^.*?\?/, "").replace(/&?name=.*/, "");
		for (const [other, stop] of this.waiting) {
			if (range(other) !== range(question)) stop.abort();
		}
	}

	/**
	 * Returns the answer to a request if the answer has arrived. Otherwise returns undefined.
	 * @param {string} question
	 */
	#ask(question) {
		const answer = this.answers.get(question);
		if (answer !== undefined) return answer || undefined;
		if (!this.isDone || this.hasEnded) return undefined;
		// Do not keep many answers: most are for ranges other than the range of this question.
		if (this.answers.size > 20) this.answers.clear();
		this.answers.set(question, null);
		this.#forget(question);
		const stop = new AbortController();
		this.waiting.set(question, stop);
		this.#followSums();
		this.#fetch(question, stop.signal).then(async (reply) => {
			// Status 503: the server ends, so the answer is not complete.
			if (reply.status === 503) throw new Error(reply.statusText);
			this.answers.set(question, reply.ok ? await reply.json() : []);
		}).catch(() => this.answers.delete(question)).finally(() => {
			if (this.waiting.get(question) === stop) this.waiting.delete(question);
			if (!this.waiting.size) this.onProgress(null);
			this.answered++;
			this.onAnswer();
		});
		return undefined;
	}

	/**
	 * Finds a call of a function in @funcs. If step is 1, finds the next call after @from. If
	 * step is -1, finds the previous call before @from. If @from is null, finds the first call
	 * (step 1) or the last call (step -1). If @what is "kinds",
	 * finds events in the same way.
	 * @param {number[]} funcs numbers of functions; if @what is "kinds": of kinds of events
	 * @param {{ task: number, start: number, depth: number } | null} from
	 * @param {1 | -1} step
	 * @param {"functions" | "kinds"} what
	 * @returns {Promise<Found | null>}
	 */
	async search(funcs, from, step, what = "functions") {
		const place = from ? `&task=${from.task}&at=${from.start}&depth=${from.depth}` : "";
		const back = step < 0 ? "&back=1" : "";
		const reply = await this.#fetch(`search?${what}=${funcs.join(",")}${place}${back}`);
		const found = reply.ok ? await reply.json() : {};
		if ("task" in found) return found;
		// The search wraps around at the ends.
		return from ? this.search(funcs, null, step, what) : null;
	}

	/** @param {Range | null} part */
	#words(part) {
		if (!part || this.recording.isWhole(part)) return "";
		const from = Math.max(0, Math.ceil(part.from));
		// Rounding may put the end before the beginning.
		return `from=${from}&to=${Math.max(from, Math.floor(part.to))}`;
	}

	/** @param {string} name */
	numberOf(name) {
		const known = this.numbers.get(name);
		if (known !== undefined) return known;
		const { recording } = this;
		this.numbers.set(name, recording.names.length);
		recording.addName(name);
		return recording.names.length - 1;
	}

	/**
	 * Returns the rows of `report -r` for a range, or undefined until they have arrived.
	 * @param {Range | null} part
	 * @returns {FunctionRow[] | undefined}
	 */
	functions(part) {
		/** @type {FunctionRow[] | undefined} */
		const rows = this.#ask(`functions?${this.#words(part)}`);
		return rows && rows.map((row) => ({
			...row, func: this.numberOf(row.name), average: row.calls ? row.total / row.calls : 0,
		}));
	}

	/**
	 * @param {Range | null} part
	 * @param {boolean} hasWaits
	 */
	flame(part, hasWaits) {
		const nodes = this.#ask(`tree?${this.#words(part)}`);
		return nodes && growTree(nodes, (name) => this.numberOf(name),
			(func) => !hasWaits && this.recording.isWait[func] === 1);
	}

	/**
	 * Returns the callers and callees of a function.
	 * @param {Range | null} part
	 * @param {string} name
	 * @returns {{ callers: FunctionRow[], callees: FunctionRow[] } | undefined}
	 */
	relatives(part, name) {
		const found = this.#ask(`tree?${this.#words(part)}&name=${encodeURIComponent(name)}`);
		const rows = (/** @type {FunctionRow[]} */ list) => list
			.map((row) => ({ ...row, func: row.name ? this.numberOf(row.name) : -1 }))
			.sort((a, b) => b.total - a.total || b.calls - a.calls);
		return found && found.callers && { callers: rows(found.callers), callees: rows(found.callees) };
	}
}
