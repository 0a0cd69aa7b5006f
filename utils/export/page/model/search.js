/** Finds the calls that match the text in the search field. */

/** The number of calls that are searched before the browser may draw again. */
const SLICE = 2000000;

/** @param {string} source */
function compile(source, flags = "i") {
	try {
		return new RegExp(source, flags);
	} catch {
		return null;
	}
}

/**
 * Returns a function that tells whether a name matches @text. If @text is "/.../", it is a regular
 * expression. Any other @text matches a name that contains @text, in uppercase or lowercase. If
 * @text looks like an expression ("^read|write$"), a match of the expression is also enough.
 * @param {string} text
 * @returns {((name: string) => boolean) | null} null if the expression is not complete
 */
export function makeMatcher(text) {
	const slashes = /^\/(.+)\/([a-z]*)$/s.exec(text);
	if (slashes) {
		const expression = compile(slashes[1], slashes[2].replace(/[gy]/g, "") || "i");
		return expression && ((name) => expression.test(name));
	}
	const wanted = text.toLowerCase(), expression = /[\^$|\\]|\.[*+]|\[/.test(text) && compile(text);
	if (!expression) return (name) => name.toLowerCase().includes(wanted);
	return (name) => name.toLowerCase().includes(wanted) || expression.test(name);
}

/**
 * Returns the search text that finds this name and no other name.
 * @param {string} name
 */
export const exactly = (name) => `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$/s`;

export class Search {
	/**
	 * Searches names only, which is fast. look() also searches other texts.
	 * @param {import("./recording.js").Recording} recording
	 * @param {string} text
	 */
	constructor(recording, text) {
		this.recording = recording;
		this.text = text.trim();
		this.matcher = this.text ? makeMatcher(this.text) : null;
		this.isWrong = Boolean(this.text) && !this.matcher;
		const is = this.matcher;
		/** For each function or program, 1 if its name matches. */
		this.funcs = Uint8Array.from(recording.names, (name) => (is && is(name) ? 1 : 0));
		this.hasFuncs = this.funcs.includes(1);
		/**
		 * texts[N] is 1 if the text with the number N matches; the first text has the number 1.
		 * Null until look() is complete, or if no text matches.
		 * @type {Uint8Array | null}
		 */
		this.texts = null;
		/** Tasks whose number is the search text: all their calls match. */
		this.tasks = new Set(recording.tasks.filter((task) => String(task.tid) === this.text));
		this.named = recording.tasks.filter((task) => is && is(task.name)).length;
		this.calls = 0;
		/** The number of matching events of each kind. */
		this.perKind = new Float64Array(recording.kinds.length);
		this.executions = 0;
		if (this.text) this.#count();
	}

	#count() {
		if (this.recording.supplier) {
			this.recording.functionCalls.forEach((calls, f) => { if (this.funcs[f]) this.calls += calls; });
			for (const task of this.tasks) this.calls += task.info.calls;
			const { matcher } = this;
			// The texts of events are on the server. Count all events of the kinds
			// whose names match.
			this.perKind = Float64Array.from(this.recording.kinds, ({ name, count }) =>
				(matcher && matcher(name) ? count : 0));
			this.#countExecutions();
			return;
		}
		for (const task of this.recording.tasks) {
			if (this.tasks.has(task)) { this.calls += task.n; continue; }
			const { nr, func } = task.tree, { calls } = task.sums;
			for (let node = 1; node < nr; node++) if (this.funcs[func[node]]) this.calls += calls[node];
		}
		this.#countExecutions();
	}

	#countExecutions() {
		const { lanes } = this.recording;
		for (let i = 0; i < lanes.n; i++) this.executions += this.funcs[lanes.func(i)];
	}

	/**
	 * Searches the texts of calls and of events. The constructor has already searched all names.
	 * @param {() => Promise<unknown>} pause lets the browser draw
	 * @param {() => boolean} isOld true when the answer is not needed any more
	 */
	async look(pause, isOld) {
		const { recording, matcher } = this;
		if (!matcher || !recording.textBlocks.length) return;
		const texts = await this.#matchTexts(matcher, pause, isOld);
		if (!texts || isOld()) return;
		let calls = 0;
		const perKind = new Float64Array(recording.kinds.length);
		for (const task of recording.tasks) {
			const { pointText, pointKind } = task;
			for (let k = 0; k < pointText.length; k++) perKind[pointKind[k]] += texts[pointText[k]];
			if (!task.text || this.tasks.has(task)) continue;
			const { text, ctx, n } = task, { func } = task.tree;
			for (let at = 0; at < n; at += SLICE) {
				for (let i = at; i < Math.min(n, at + SLICE); i++)
					if (texts[text[i]] && !this.funcs[func[ctx[i]]]) calls++;
				if (at + SLICE < n) await pause();
				if (isOld()) return;
			}
		}
		this.texts = texts;
		this.calls += calls;
		this.perKind = perKind;
	}

	/**
	 * @param {(text: string) => boolean} matcher
	 * @param {() => Promise<unknown>} pause
	 * @param {() => boolean} isOld
	 */
	async #matchTexts(matcher, pause, isOld) {
		const { textBlocks } = this.recording, decoder = new TextDecoder();
		const nr = textBlocks.reduce((sum, { starts }) => sum + starts.length - 1, 0);
		const texts = new Uint8Array(nr + 1);
		let number = 1, hasAny = false;
		for (const { bytes, starts } of textBlocks) {
			for (let i = 0; i + 1 < starts.length; i++, number++) {
				const text = decoder.decode(bytes.subarray(starts[i], starts[i + 1]));
				if (matcher(text)) { texts[number] = 1; hasAny = true; }
				if (i % 8192 === 8191) await pause();
				if (isOld()) return null;
			}
		}
		return hasAny ? texts : null;
	}

	/**
	 * Returns the number of visible events that match.
	 * @param {Uint8Array} hidden for each kind of event, 1 if it is hidden
	 */
	events(hidden) { return this.perKind.reduce((sum, nr, kind) => sum + (hidden[kind] ? 0 : nr), 0); }

	/** True when the search text is valid and not empty. */
	get isOn() { return Boolean(this.text) && !this.isWrong; }

	/**
	 * Returns an array that has, for each node of a task, 1 if its calls match.
	 * @param {import("./task.js").Task} task
	 */
	nodes(task) {
		return Uint8Array.from(task.tree.func, (f) => (f >= 0 ? this.funcs[f] : 0));
	}

	/**
	 * @param {import("./task.js").Task | import("./lanes.js").Lanes} task
	 * @param {number} i
	 */
	has(task, i) {
		if (this.funcs[task.func(i)]) return true;
		if (!("ctx" in task)) return false;
		return this.tasks.has(task) || Boolean(this.texts && task.text && this.texts[task.text[i]]);
	}

	/**
	 * Visits the matching calls of a task, forwards (@step 1) or backwards (-1), until visit
	 * returns true. The search begins at the call with the index @at.
	 * @param {import("./task.js").Task} task
	 * @param {number} at
	 * @param {1 | -1} step
	 * @param {(i: number) => boolean | void} visit
	 */
	scan(task, at, step, visit) {
		const nodes = this.nodes(task), { ctx, text, n } = task, { texts } = this;
		const isAll = this.tasks.has(task);
		if (!isAll && !nodes.includes(1) && !(texts && text)) return;
		for (let i = at; i >= 0 && i < n; i += step)
			if (isAll || nodes[ctx[i]] || (texts && text && texts[text[i]]))
				if (visit(i)) return;
	}

	/**
	 * Returns the next match after @from in the order of time. If step is -1, returns the
	 * previous match before @from. The search wraps around.
	 * @param {import("./task.js").Call | null} from
	 * @param {1 | -1} step
	 * @returns {import("./task.js").Call | null}
	 */
	next(from, step) {
		/** @type {import("./task.js").Call | null} */
		let best = null;
		const { tasks } = this.recording;
		const isBefore = (/** @type {import("./task.js").Call} */ a, /** @type {import("./task.js").Call} */ b) =>
			(a[0].start[a[1]] - b[0].start[b[1]] || a[0].index - b[0].index) * step < 0;
		for (const task of tasks) {
			let at = step > 0 ? 0 : task.n - 1;
			if (from) {
				const time = from[0].start[from[1]];
				if (task === from[0]) at = from[1] + step;
				else if (step > 0) at = task.firstAt(time + (task.index < from[0].index ? 1 : 0));
				else at = task.firstAt(time + (task.index < from[0].index ? 1 : 0)) - 1;
			}
			this.scan(task, at, step, (i) => {
				if (!best || isBefore([task, i], best)) best = [task, i];
				return true;
			});
		}
		return best || (from ? this.next(null, step) : null);
	}

	/**
	 * Returns the place of a match among all matches, counted from 1.
	 * @param {import("./task.js").Call} call
	 */
	place([of, at]) {
		let place = 1;
		const time = of.start[at];
		for (const task of this.recording.tasks) {
			const limit = task === of ? at : task.firstAt(time + (task.index < of.index ? 1 : 0));
			this.scan(task, limit - 1, -1, () => { place++; });
		}
		return place;
	}
}
