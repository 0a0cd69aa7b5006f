/** The bar above all views: tabs, search, range, buttons. */
import { byId, element, inputById, keepInWindow } from "../ui/element.js";
import { count, groups, timeText } from "../model/text.js";
import { parseRange, rangeText } from "../model/range_text.js";
import { VIEWS } from "../state/state.js";
import { showKinds } from "./kinds.js";

/** @type {[import("../state/state.js").TaskOrder, string][]} */
const ORDER_TITLES = [["start", "Start"], ["name", "Name"], ["calls", "Calls"], ["cpu", "Time on CPU"]];

/**
 * Sets up the tabs. The left and right arrow keys move from tab to tab.
 * @param {import("../state/app.js").App} app
 */
function setUpTabs(app) {
	const tabs = VIEWS.map((name) => byId(`tab-${name}`));
	tabs.forEach((tab, i) => {
		tab.addEventListener("click", () => app.change({ view: VIEWS[i] }, "push"));
		tab.addEventListener("keydown", (event) => {
			const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
			if (!step) return;
			event.preventDefault();
			event.stopPropagation();
			const shown = tabs.filter((t) => !t.hidden);
			const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
			next.focus();
			next.click();
		});
	});
}

/** @param {import("../state/app.js").App} app */
function setUpSearch(app) {
	const field = inputById("search");
	field.addEventListener("input", () => app.change({ search: field.value }));
	field.addEventListener("keydown", (event) => {
		event.stopPropagation();
		if (event.key === "Enter") app.active.go(event.shiftKey ? -1 : 1);
		if (event.key !== "Escape") return;
		app.change({ search: "" });
		field.blur();
	});
}

/** @param {import("../state/app.js").App} app */
function setUpRange(app) {
	const field = inputById("range");
	field.addEventListener("keydown", (event) => {
		event.stopPropagation();
		if (event.key === "Escape") field.blur();
	});
	field.addEventListener("change", () => {
		const range = parseRange(field.value, app.recording);
		const isWrong = !range && Boolean(field.value.trim());
		field.setAttribute("aria-invalid", String(isWrong));
		if (!isWrong) app.change({ range }, "push");
	});
	byId("zoom-range").addEventListener("click", () => {
		if (app.state.range) app.setZoom(app.state.range, "push");
	});
	byId("choose-seen").addEventListener("click", () => {
		const { from, to } = app.zoom;
		app.change({ range: { from: Math.ceil(from), to: Math.floor(to) } }, "push");
	});
	byId("clear-range").addEventListener("click", () => app.change({ range: null }, "push"));
}

/** @param {import("../state/app.js").App} app */
function setUpSort(app) {
	const button = byId("sort"), menu = byId("orders");
	const close = () => {
		menu.hidden = true;
		button.setAttribute("aria-expanded", "false");
	};
	const items = ORDER_TITLES.map(([order, title]) => element("button", {
		role: "menuitemradio", "data-order": order, tabindex: -1,
		click: () => {
			app.change({ order });
			close();
			button.focus();
		},
	}, title));
	menu.append(...items);
	button.addEventListener("click", () => {
		menu.hidden = !menu.hidden;
		button.setAttribute("aria-expanded", String(!menu.hidden));
		if (menu.hidden) return;
		keepInWindow(menu);
		(items.find((i) => i.getAttribute("aria-checked") === "true") || items[0]).focus();
	});
	menu.addEventListener("keydown", (event) => {
		const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if (step) items[(at + step + items.length) % items.length].focus();
		if (event.key === "Escape") { close(); button.focus(); }
		if (step || event.key === "Escape") { event.preventDefault(); event.stopPropagation(); }
	});
	document.addEventListener("pointerdown", (event) => {
		if (!byId("sort-box").contains(/** @type {Node} */ (event.target))) close();
	});
}

/** @param {import("../state/app.js").App} app */
export function setUpToolbar(app) {
	setUpTabs(app);
	setUpSearch(app);
	setUpRange(app);
	setUpSort(app);
	byId("show-hidden").addEventListener("click", () => app.change({ hidden: new Set() }));
	inputById("waits").addEventListener("change", () => app.change({ hasWaits: inputById("waits").checked }));
}

/** @param {import("../state/app.js").App} app */
function foundText({ search, place, isLooking, isReading, state, hiddenKinds }) {
	const isOfPrograms = state.view === "processes";
	let text = isOfPrograms ? count(search.executions, "execution") : count(search.calls, "call");
	if (place) text = `${groups(place)} of ${text}`;
	const events = search.events(hiddenKinds);
	if (events && !isOfPrograms) text += `, ${count(events, "event")}`;
	if (search.named && !search.hasFuncs) text += `, ${count(search.named, "task")}`;
	return isLooking || isReading ? `${text} …` : text;
}

/** @param {import("../state/app.js").App} app */
export function showSearch(app) {
	const { search, apps, state } = app, field = inputById("search");
	if (field.value !== state.search) field.value = state.search;
	field.setAttribute("aria-invalid", String(search.isWrong));
	const texts = search.isOn ? apps.map(foundText) : [];
	byId("found").textContent = search.isWrong ? "not a regular expression"
		: texts.length > 1 ? `base: ${texts[0]}; new: ${texts[1]}` : texts.join();
}

/**
 * Returns a text about data that the page lacks, or "". If the page is served in parts, the text
 * tells how to get a page with the missing data.
 * @param {import("../state/app.js").App} app
 */
function missingText({ state: { view, func, search, part }, recording }) {
	const missing = search && view !== "processes" ? "a search in arguments and texts of events"
		: view === "functions" && func ? "durations and slowest calls" : "";
	const { served, leftOut } = recording.meta;
	if (view === "processes" && leftOut)
		return `${count(leftOut, "execution")} more: there are too many for a page.`;
	if (served !== "parts" || !missing) return "";
	const range = part && !recording.isWhole(part) ? rangeText(part, recording) : "FROM~TO";
	return `In parts, without ${missing}. With them: utrail show --no-parts -r ${range}`;
}

/** @param {import("../state/app.js").App} app */
export function showState(app) {
	const { state, recording, zoom } = app, { zero } = recording.meta;
	for (const name of VIEWS) {
		const tab = byId(`tab-${name}`), isShown = name === state.view;
		tab.setAttribute("aria-selected", String(isShown));
		tab.tabIndex = isShown ? 0 : -1;
		byId(name).hidden = !isShown;
	}
	byId("tab-processes").hidden = !app.hasProcesses;
	const field = inputById("range"), part = state.part;
	if (document.activeElement !== field) {
		field.value = state.range ? rangeText(state.range, recording) : "";
		field.setAttribute("aria-invalid", "false");
	}
	const said = (/** @type {import("../model/recording.js").Range} */ { from, to }) =>
		`${timeText(from - zero)} to ${timeText(to - zero)}, ${timeText(to - from)} long`;
	const what = state.range ? "Range" : "Seen";
	byId("part").textContent = part && !recording.isWhole(part) ? `${what}: ${said(part)}` : "Whole recording";
	byId("zoom-range").hidden = byId("clear-range").hidden = !state.range;
	byId("choose-seen").hidden = Boolean(state.range) || !state.zoom;
	byId("overview").setAttribute("aria-label", `Overview of the recording; seen: ${said(zoom)}`);
	byId("show-hidden").hidden = !state.hidden.size;
	byId("show-hidden").textContent = `Show ${count(state.hidden.size, "hidden task")}`;
	byId("of-timeline").hidden = state.view !== "timeline";
	byId("of-flame").hidden = state.view !== "flame";
	inputById("waits").checked = state.hasWaits;
	byId("missing").textContent = missingText(app);
	byId("missing").hidden = !byId("missing").textContent;
	showKinds(app);
	for (const item of byId("orders").children)
		item.setAttribute("aria-checked", String(item.getAttribute("data-order") === state.order));
	showSearch(app);
}
