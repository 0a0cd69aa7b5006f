/**
 * The table of changes between two recordings. A click on a row shows the function of the row in
 * the timelines of both recordings.
 */
import { byId, element, makeBody } from "../ui/element.js";
import { changeText, groups, percentText, timeText } from "../model/text.js";
import { functionRows, sumTasks } from "../model/functions.js";
import { diffRows, percentMore } from "../model/difference.js";
import { exactly, Search } from "../model/search.js";

/** The limit of rows. A search finds rows beyond it. */
const MOST_DIFF_ROWS = 2000;

/** @typedef {import("../model/difference.js").DiffRow} DiffRow */
/** @typedef {"total" | "self" | "calls"} Measure */
/** @typedef {"base" | "pair" | "diff" | "percent"} Part */

/**
 * @typedef {object} DiffColumn
 * @property {string} key
 * @property {Measure} measure
 * @property {Part} part
 * @property {string} title
 */

/** @type {[Measure, string][]} */
const MEASURES = [["total", "Total"], ["self", "Self"], ["calls", "Calls"]];
/** @type {[Part, string][]} */
const PARTS = [["base", "Base"], ["pair", "New"], ["diff", "Difference"], ["percent", "%"]];
/** @type {DiffColumn[]} */
const DIFF_COLUMNS = MEASURES.flatMap(([measure]) => PARTS
	.filter(([part]) => measure !== "calls" || part !== "percent")
	.map(([part, title]) => ({ key: `${measure}-${part}`, measure, part, title })));

/**
 * Returns the value of a row in a column. A percentage is NaN if the value of one of the recordings
 * is 0.
 * @param {DiffRow} row
 * @param {DiffColumn} column
 */
function valueOf({ base, pair }, { measure, part }) {
	if (part === "base") return base[measure];
	if (part === "pair") return pair[measure];
	if (part === "diff") return pair[measure] - base[measure];
	const more = percentMore(base[measure], pair[measure]);
	return more === null ? NaN : more;
}

/**
 * @param {DiffRow} row
 * @param {DiffColumn} column
 */
function diffCell(row, column) {
	const { measure, part } = column, value = valueOf(row, column);
	const isThere = part === "base" ? row.base.calls : part === "pair" ? row.pair.calls : 1;
	if (part === "percent") {
		if (!Number.isNaN(value)) return percentText(value);
		return row.base.calls ? (row.pair.calls ? "N/A" : "gone") : "new";
	}
	if (!isThere) return "–";
	if (measure === "calls") return (part === "diff" && value > 0 ? "+" : "") + groups(value);
	return part === "diff" ? changeText(value) : timeText(value);
}

export class DiffTable {
	/** @param {import("../state/app.js").App} app */
	constructor(app) {
		this.app = app;
		this.column = "total-diff";
		/**
		 * The order of the rows. With "size", the largest absolute value is first.
		 * @type {"size" | "down" | "up"}
		 */
		this.order = "size";
		this.key = "";
		this.drawn = "";
		/** @type {DiffRow[]} */
		this.rows = [];
		this.isWhole = false;
		byId("functions-table").addEventListener("click", (event) => this.#onClick(event));
	}

	/** Returns the rows of the shown range. After a change of the range, computes the rows. */
	find() {
		const { apps, state } = this.app, { part } = state;
		const range = part && { from: Math.ceil(part.from), to: Math.floor(part.to) };
		const key = range ? `${range.from} ${range.to}` : "all";
		if (key !== this.key) {
			const [base, pair] = apps.map(({ recording }) =>
				functionRows(recording, sumTasks(recording, range)));
			this.rows = diffRows(base, pair);
			this.key = key;
		}
		return this.rows;
	}

	#sorted() {
		const { search: { isOn, matcher }, apps, state } = this.app, rows = this.find();
		// A search for a name hides the rows with other names. A click on a row starts a
		// search for the row's function. The search that a click has started hides no rows.
		const isNamed = isOn && state.search !== exactly(state.func) && apps.some(({ search }) => search.hasFuncs);
		const shown = rows.filter((row) => !isNamed || !matcher || matcher(row.name));
		const column = DIFF_COLUMNS.find(({ key }) => key === this.column), sign = this.order === "up" ? 1 : -1;
		const byName = (/** @type {DiffRow} */ a, /** @type {DiffRow} */ b) =>
			(a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
		if (!column) return shown.sort((a, b) => sign * byName(a, b));
		const value = (/** @type {DiffRow} */ row) => {
			const is = valueOf(row, column) || 0;
			return this.order === "size" ? Math.abs(is) : is;
		};
		return shown.sort((a, b) => sign * (value(a) - value(b)) || byName(a, b));
	}

	draw() {
		const { search, state, apps } = this.app;
		if (apps.some((app) => app.isReading)) return;
		this.find();
		const drawn = [this.key, this.column, this.order, search.isOn && search.text, state.func, this.isWhole];
		if (drawn.join("\n") === this.drawn) return;
		this.drawn = drawn.join("\n");
		const rows = this.#sorted(), limit = this.isWhole ? Infinity : MOST_DIFF_ROWS;
		const most = rows.reduce((max, { base, pair }) => Math.max(max, Math.abs(pair.total - base.total)), 1);
		const box = byId("functions-table");
		box.replaceChildren(element("table", { class: "difference" },
			element("caption", { class: "only-read" }, "What changed"), this.#makeHead(),
			makeBody(rows.slice(0, limit).map((row) => this.#makeRow(row, most)))));
		if (rows.length > limit)
			box.append(element("p", {}, `${groups(rows.length - limit)} more: search narrows the list.`));
		if (!rows.length) box.append(element("p", {}, "No function was called."));
	}

	/**
	 * @param {string} key
	 * @param {string} title
	 * @param {Record<string, string | number>} more
	 */
	#makeHeading(key, title, more = {}) {
		const words = { size: "other", down: "descending", up: "ascending" };
		return element("th", {
			scope: "col", "aria-sort": key === this.column ? words[this.order] : false, ...more,
		}, element("button", { "data-column": key }, title));
	}

	#makeHead() {
		return element("thead", {},
			element("tr", {}, this.#makeHeading("name", "Function", { rowspan: 2 }),
				...MEASURES.map(([measure, title]) => element("th", {
					scope: "colgroup", class: "group", colspan: measure === "calls" ? 3 : 4,
				}, title))),
			element("tr", {}, ...DIFF_COLUMNS.map(({ key, title, measure, part }) => {
				const name = MEASURES.find(([one]) => one === measure);
				const what = part === "percent" ? "difference in percent" : title.toLowerCase();
				const head = this.#makeHeading(key, title, part === "base" ? { class: "group" } : {});
				head.firstElementChild?.setAttribute("aria-label", `${name ? name[1] : ""}, ${what}`);
				return head;
			})));
	}

	/**
	 * @param {DiffRow} row
	 * @param {number} most the largest change
	 */
	#makeRow(row, most) {
		const change = row.pair.total - row.base.total, meter = element("span", { class: "part" });
		meter.style.width = `${(100 * Math.abs(change) / most).toFixed(1)}%`;
		if (change > 0) meter.classList.add("more");
		const cells = DIFF_COLUMNS.map((column) => {
			const text = diffCell(row, column), isChange = /^(?:diff|percent)$/.test(column.part);
			const classes = [column.part === "base" && "group", isChange && text.startsWith("+") && "more",
				isChange && text.startsWith("-") && "less", /^(?:gone|new)$/.test(text) && text];
			return element("td", { class: classes.filter(Boolean).join(" ") }, text);
		});
		return element("tr", { "data-name": row.name, class: row.name === this.app.state.func ? "chosen" : "" },
			element("td", { title: row.name }, element("button", { class: "name" }, row.name),
				element("span", { class: "meter" }, meter)), ...cells);
	}

	/** @param {MouseEvent} event */
	#onClick(event) {
		const target = /** @type {HTMLElement} */ (event.target);
		const row = /** @type {HTMLElement | null} */ (target.closest("tbody tr"));
		const key = target.closest("thead th")?.firstElementChild?.getAttribute("data-column");
		if (key) {
			this.#sortBy(key);
			/** @type {HTMLElement | null} */
			(byId("functions-table").querySelector(`[data-column="${key}"]`))?.focus();
		} else if (row) {
			this.#showInTimelines(row.dataset.name || "");
		}
	}

	/** @param {string} key */
	#sortBy(key) {
		const isChange = /-(?:diff|percent)$/.test(key);
		/** @type {("size" | "down" | "up")[]} */
		const orders = isChange ? ["size", "down", "up"] : key === "name" ? ["up", "down"] : ["down", "up"];
		const at = key === this.column ? orders.indexOf(this.order) + 1 : 0;
		this.order = orders[at % orders.length];
		this.column = key;
		this.app.tell("draw");
		this.draw();
	}

	/**
	 * Marks all calls of the function in both timelines, and selects the first call in each.
	 * @param {string} name
	 */
	#showInTimelines(name) {
		const { apps } = this.app;
		this.app.change({ func: name, search: exactly(name), view: "timeline" }, "push");
		for (const app of [...apps].reverse()) {
			const first = new Search(app.recording, exactly(name)).next(null, 1);
			app.select(first && app.search.has(...first) ? first : null);
		}
	}
}
