/** Keys of the whole page. */
import { byId } from "../ui/element.js";
import { setUpKinds } from "./kinds.js";

/**
 * @param {import("../state/app.js").App} app
 * @param {object} views
 * @param {import("./timeline.js").Timeline[]} views.timelines
 * @param {import("./processes.js").ProcessesView} views.processes
 * @param {() => void} views.showAll
 */
export function setUpKeys(app, { timelines, processes, showAll }) {
	const openKinds = setUpKinds(), dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
	const scrollers = {
		timeline: timelines.map(({ scroller }) => scroller),
		flame: [byId("flame-box")], functions: [byId("functions-table")], processes: [byId("lanes")],
	};
	const scrollBy = (/** @type {number} */ pixels) => {
		if (app.state.view === "processes") processes.scrollTo(processes.top + pixels);
		else for (const scroller of scrollers[app.state.view]) scroller.scrollTop += pixels;
	};
	const page = () => scrollers[app.state.view][0].clientHeight * 0.9;
	const show = (/** @type {import("../state/state.js").ViewName} */ view) => app.change({ view }, "push");
	/** Sets an end of the range to the middle of the visible part. */
	const setEnd = (/** @type {"from" | "to"} */ end) => {
		const { from, to } = app.state.range || app.zoom, seen = app.zoom;
		const range = { from: Math.ceil(from), to: Math.floor(to), [end]: Math.round((seen.from + seen.to) / 2) };
		if (range.from < range.to) app.change({ range }, "push");
		// The text is shown until the next change.
		else byId("part").textContent = `The range would ${range.from > range.to
			? "end before it begins" : "be 0 ns long"}: move on, then press the key.`;
	};
	/** @type {Record<string, () => void>} */
	const keys = {
		"+": () => app.zoomBy(0.7), "=": () => app.zoomBy(0.7), w: () => app.zoomBy(0.7),
		"-": () => app.zoomBy(1 / 0.7), s: () => app.zoomBy(1 / 0.7),
		ArrowLeft: () => app.pan(-0.15), a: () => app.pan(-0.15),
		ArrowRight: () => app.pan(0.15), d: () => app.pan(0.15),
		ArrowUp: () => scrollBy(-60), ArrowDown: () => scrollBy(60),
		PageUp: () => scrollBy(-page()), PageDown: () => scrollBy(page()),
		Home: () => scrollBy(-1e9), End: () => scrollBy(1e9),
		0: showAll, 1: () => show("timeline"), 2: () => show("flame"), 3: () => show("functions"),
		4: () => { if (app.hasProcesses) show("processes"); },
		n: () => app.active.go(1), N: () => app.active.go(-1),
		e: () => { if (app.state.view === "timeline") openKinds(); },
		f: () => { if (app.active.selected) app.active.zoomTo(app.active.selected); },
		"[": () => setEnd("from"), "]": () => setEnd("to"),
		"/": () => byId("search").focus(), "?": () => dialog.showModal(),
		Escape: () => { for (const one of app.apps) one.select(null); app.change({ search: "", range: null }); },
	};
	addEventListener("keydown", (event) => {
		const target = /** @type {HTMLElement} */ (event.target);
		const type = target.tagName === "INPUT" ? target.getAttribute("type") || "" : "checkbox";
		// Radio buttons use the arrow keys.
		const isTyping = type === "radio" ? event.key.startsWith("Arrow") : type !== "checkbox";
		if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || isTyping) return;
		const key = keys[event.key];
		if (!key) return;
		// Lists scroll by themselves.
		const isList = Boolean(target.closest(".list"));
		if (isList && /^(?:Page|Home|End|Arrow[UD])/.test(event.key)) return;
		event.preventDefault();
		key();
	});
	byId("help").addEventListener("click", () => dialog.showModal());
	byId("reset").addEventListener("click", showAll);
}
