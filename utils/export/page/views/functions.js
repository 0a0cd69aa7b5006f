/** The table of functions, and the details of the chosen function. */
import { byId, element, makeTable } from "../ui/element.js";
import { count, groups, percent, timeText } from "../model/text.js";
import { functionRows, relatives, sumTasks } from "../model/functions.js";
import { findDurations } from "../model/durations.js";
import { describe } from "./details.js";
import { makeSource } from "./source.js";

/** The number of rows that are made at a time. More are made as the user scrolls down. */
const ROWS_AT_A_TIME = 200;

/** @typedef {"name" | "total" | "self" | "calls" | "average" | "longest"} Column */
/** @type {[Column, string][]} */
const COLUMNS = [["name", "Function"], ["total", "Total"], ["self", "Self"], ["calls", "Calls"],
	["average", "Average"], ["longest", "Longest"]];

/** @typedef {import("../model/functions.js").FunctionRow} FunctionRow */

/**
 * @param {FunctionRow} row
 * @param {Column} column
 */
const cellText = (row, column) => (column === "calls" ? groups(row.calls) : timeText(Number(row[column])));

export class FunctionsView {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		/** @type {Column} */
		this.column = "total";
		this.isDown = true;
		this.key = "";
		this.drawn = "";
		/** @type {import("../model/functions.js").TaskSums} */
		this.sums = [];
		/** @type {FunctionRow[]} */
		this.rows = [];
		/** All rows in order. The page has elements for the first nrMade rows. */
		this.sorted = /** @type {FunctionRow[]} */ ([]);
		this.nrMade = 0;
		this.chosen = "";
		this.isWhole = false;
		const box = byId("functions-table");
		box.addEventListener("click", (event) => this.#onClick(event));
		box.addEventListener("scroll", () => {
			if (box.scrollTop + box.clientHeight * 2 > box.scrollHeight) this.#makeMore(ROWS_AT_A_TIME);
		});
	}

	/** Computes the sums of the shown range if they are not known yet. */
	find() {
		const { recording, state } = this.app, part = state.part;
		const loaded = recording.tasks.filter((task) => task.isLoaded).length;
		const key = `${part ? `${part.from} ${part.to}` : ""} ${loaded}`;
		const { supplier } = recording;
		if (supplier) {
			const rows = supplier.functions(part);
			this.key = rows ? `${key} ${supplier.turn} ${supplier.answered}` : "";
			this.rows = rows || [];
		} else if (key !== this.key) {
			this.sums = sumTasks(recording, part && { from: Math.ceil(part.from), to: Math.floor(part.to) });
			this.rows = functionRows(recording, this.sums);
			this.key = key;
		}
		return this.rows;
	}

	#sorted() {
		const { search } = this.app, { column } = this, rows = this.find();
		const shown = search.isOn && search.hasFuncs ? rows.filter((row) => search.funcs[row.func]) : [...rows];
		const order = column === "name"
			? (/** @type {FunctionRow} */ a, /** @type {FunctionRow} */ b) => a.name.localeCompare(b.name)
			: (/** @type {FunctionRow} */ a, /** @type {FunctionRow} */ b) => a[column] - b[column];
		return shown.sort((a, b) => (this.isDown ? -order(a, b) : order(a, b)) || a.func - b.func);
	}

	draw() {
		const { search, state } = this.app;
		// Sums are incomplete until all calls are read.
		if (this.app.isReading) return;
		this.find();
		byId("functions-table").setAttribute("aria-busy", String(!this.key));
		const drawn = [this.key, this.column, this.isDown, search.isOn && search.text, this.isWhole].join("\n");
		if (drawn !== this.drawn) this.#drawTable();
		this.drawn = drawn;
		const chosen = [this.key, state.func, this.app.recording.sources.places.size].join("\n");
		if (chosen !== this.chosen) this.#drawChosen();
		else this.#drawCall();
		this.chosen = chosen;
	}

	#drawTable() {
		this.sorted = this.#sorted();
		this.nrMade = 0;
		byId("functions-table").replaceChildren(
			element("table", {}, element("caption", { class: "only-read" }, "Functions"), this.#makeHead(),
				element("tbody", {})),
			element("p", { id: "more-functions" }));
		this.#makeMore(this.isWhole ? Infinity : ROWS_AT_A_TIME);
	}

	/** @param {number} nr */
	#makeMore(nr) {
		const { sorted } = this, most = sorted.reduce((max, row) => Math.max(max, row.self), 1);
		if (this.nrMade >= sorted.length) return;
		const rows = sorted.slice(this.nrMade, this.nrMade + nr).map((row) => this.#makeRow(row, most));
		this.nrMade += rows.length;
		const body = byId("functions-table").querySelector("tbody");
		for (const row of rows) body?.append(row);
		const left = sorted.length - this.nrMade;
		byId("more-functions").textContent = left ? `${groups(left)} more: scroll, or search.` : "";
	}

	#makeHead() {
		const heads = COLUMNS.map(([column, title]) => {
			const isChosen = column === this.column;
			const button = element("button", { "data-column": column }, title);
			return element("th", {
				scope: "col",
				"aria-sort": isChosen ? (this.isDown ? "descending" : "ascending") : false,
			}, button);
		});
		return element("thead", {}, element("tr", {}, ...heads));
	}

	/**
	 * @param {FunctionRow} row
	 * @param {number} most the largest self time
	 */
	#makeRow(row, most) {
		const meter = element("span", { class: "part" });
		meter.style.width = `${(100 * row.self / most).toFixed(1)}%`;
		const cells = COLUMNS.slice(1).map(([column]) => element("td", {}, cellText(row, column)));
		const isChosen = this.app.recording.keys[row.func] === this.app.state.func;
		return element("tr", { "data-func": row.func, class: isChosen ? "chosen" : "" },
			element("td", { title: row.name },
				element("button", { class: "name" }, row.name),
				element("span", { class: "meter" }, meter)), ...cells);
	}

	/** @param {MouseEvent} event */
	#onClick(event) {
		const target = /** @type {HTMLElement} */ (event.target);
		const head = /** @type {HTMLElement | null} */ (target.closest("thead th"));
		const row = /** @type {HTMLElement | null} */ (target.closest("tbody tr"));
		if (head) {
			const column = /** @type {Column} */ (head.firstElementChild?.getAttribute("data-column"));
			this.isDown = this.column === column ? !this.isDown : column !== "name";
			this.column = column;
			this.app.tell("draw");
			/** @type {HTMLElement | null} */
			(byId("functions-table").querySelector(`[data-column="${column}"]`))?.focus();
		} else if (row) {
			this.app.change({ func: this.app.recording.keys[Number(row.dataset.func)] }, "push");
		}
	}

	#drawChosen() {
		const box = byId("function"), { app } = this, { func } = app.state;
		const number = func ? app.recording.keys.indexOf(func) : -1;
		box.hidden = number < 0;
		box.replaceChildren();
		byId("functions-table").querySelector("tr.chosen")?.classList.remove("chosen");
		if (number < 0) return;
		byId("functions-table").querySelector(`tr[data-func="${number}"]`)?.classList.add("chosen");
		const name = app.recording.names[number];
		const row = this.rows.find((r) => r.func === number);
		const { supplier } = app.recording;
		const { callers, callees } = supplier
			? supplier.relatives(app.state.part, name) || { callers: [], callees: [] }
			: relatives(app.recording, this.sums, number);
		const button = (/** @type {string} */ text, /** @type {() => void} */ click) =>
			element("button", { class: "tool", click }, text);
		const find = (/** @type {1 | -1} */ step) => {
			const call = app.nextOf(number, step);
			if (!call) return;
			app.select(call);
			this.#drawCall();
		};
		box.append(
			element("h2", {}, name),
			element("p", {}, row ? `${count(row.calls, "call")}, ${timeText(row.total)} in all, ` +
				`${timeText(row.self)} itself` : "It was not called in this range."),
			element("p", { class: "buttons" }, button("Previous call", () => find(-1)),
				button("Next call", () => find(1)), button("Close", () => this.#close(number))),
			element("p", { id: "this-call", "aria-live": "polite" }),
			this.#makeRelatives(`Callers of ${name}`, callers),
			this.#makeRelatives(`Callees of ${name}`, callees));
		if (!supplier) this.#addDurations(box, number);
		box.append(makeSource(app.recording.sources, number));
		this.#drawCall();
	}

	/**
	 * Closes the details of the function. This removes the button "Close", which has the focus.
	 * So the focus moves to the row of the function.
	 * @param {number} func
	 */
	#close(func) {
		const table = byId("functions-table");
		/** @type {HTMLElement | null} */
		const row = table.querySelector(`tr[data-func="${func}"] button`);
		this.app.change({ func: "" }, "push");
		(row || table).focus();
	}

	/** Shows the selected call, with its values, if it is a call of the chosen function. */
	#drawCall() {
		const box = document.getElementById("this-call"), { app } = this, call = app.selectedCall;
		if (!box) return;
		box.replaceChildren();
		if (!call || app.recording.keys[call[0].func(call[1])] !== app.state.func) return;
		const d = describe(app, call);
		const caller = d.caller ? `, called by ${d.caller}` : "";
		box.append(element("b", {}, d.name + d.text),
			` took ${d.took}, itself ${d.self}, at ${d.start} in ${d.task}${caller} `,
			element("button", {
				class: "tool", click: () => { app.change({ view: "timeline" }, "push"); app.reveal(call); },
			}, "Show in the timeline"));
	}

	/**
	 * @param {string} caption
	 * @param {FunctionRow[]} rows
	 */
	#makeRelatives(caption, rows) {
		const columns = COLUMNS.slice(0, 4), shown = rows.slice(0, this.isWhole ? Infinity : ROWS_AT_A_TIME);
		const made = makeTable(caption, columns.map(([, title]) => title), shown.map((row) => {
			const name = row.func < 0 ? "(not recorded)" : row.name;
			const cell = row.func < 0 ? name : element("button", {
				class: "name", click: () => this.app.change({ func: this.app.recording.keys[row.func] }, "push"),
			}, name);
			return element("tr", {}, element("td", { title: name }, cell),
				...columns.slice(1).map(([column]) => element("td", {}, cellText(row, column))));
		}));
		const left = rows.length - shown.length;
		if (left) made.append(element("tfoot", {}, element("tr", {},
			element("td", { colspan: columns.length }, `and ${groups(left)} more`))));
		return made;
	}

	/**
	 * @param {HTMLElement} box
	 * @param {number} func
	 */
	#addDurations(box, func) {
		const { app } = this, { recording, state } = app;
		const { buckets, slowest } = findDurations(recording, state.part, func);
		const all = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
		const most = buckets.reduce((max, bucket) => Math.max(max, bucket.count), 1);
		box.append(makeTable("How long its calls took", ["From", "To", "Calls", "Part"],
			buckets.map((bucket) => {
				const bar = element("span", { class: "part" });
				bar.style.width = `${100 * bucket.count / most}%`;
				return element("tr", {}, element("td", {}, timeText(bucket.from)),
					element("td", {}, timeText(bucket.to)), element("td", {}, groups(bucket.count)),
					element("td", {}, percent(bucket.count, all), element("span", { class: "meter" }, bar)));
			})));
		box.append(makeTable("Its slowest calls", ["Took", "At", "In"], slowest.map((call) => {
			const [task, i] = call, click = () => {
				app.change({ view: "timeline" }, "push");
				app.reveal(call);
			};
			return element("tr", {},
				element("td", {}, element("button", { class: "name", click }, timeText(task.dur[i]))),
				element("td", {}, timeText(task.start[i] - recording.meta.zero)),
				element("td", {}, `${task.name} ${task.tid}`));
		})));
	}
}
