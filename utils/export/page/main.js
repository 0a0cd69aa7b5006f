/** Makes the page from its parts. */
import { App } from "./state/app.js";
import { byId } from "./ui/element.js";
import { readColors } from "./ui/colors.js";
import { hideTip } from "./ui/tip.js";
import { count, timeText } from "./model/text.js";
import { Recording } from "./model/recording.js";
import { loadBlocks } from "./data/load.js";
import { FlameView } from "./views/flame.js";
import { FunctionsView } from "./views/functions.js";
import { Overview } from "./views/overview.js";
import { ProcessesView } from "./views/processes.js";
import { setUpKeys } from "./views/keys.js";
import { setUpToolbar, showSearch, showState } from "./views/toolbar.js";
import { serveParts } from "./views/parts.js";
import { offerRecordings } from "./views/recordings.js";
import { showDetails } from "./views/details.js";
import { Timeline } from "./views/timeline.js";
import { DiffFlameView } from "./views/diff_flame.js";
import { DiffTable } from "./views/diff_table.js";
import { setUpTwo, showTitleOfTwo } from "./views/diff_page.js";
import { shareScale } from "./model/difference.js";

/** The limit of the height of a printed picture, in pixels. */
const MAX_PRINTED = 8000;

/**
 * @param {import("./model/recording.js").Recording} recording
 */
function showTitle({ meta, tasks, calls, length }) {
	document.title = `${meta.title} – utrail`;
	byId("title").textContent = meta.title;
	byId("about").textContent = [count(calls, "call"), count(tasks.length, "task"),
		timeText(length),
		meta.lost ? `${count(meta.lost, "record")} lost` : "", meta.date].filter(Boolean).join(", ");
	byId("about").title = meta.cmdline;
	byId("timeline-scroller").setAttribute("aria-label",
		`Timeline of ${count(tasks.length, "task")}`);
}

/**
 * Makes the page print everything, in light colours.
 * @param {App} app
 * @param {object} views
 * @param {Timeline[]} views.timelines
 * @param {FlameView} views.flame
 * @param {{ isWhole: boolean }} views.functions
 * @param {() => void} views.draw
 */
function setUpPrint(app, { timelines, flame, functions, draw }) {
	/** @param {boolean} isPrinted */
	const turn = (isPrinted) => {
		document.documentElement.classList.toggle("printed", isPrinted);
		readColors(app.apps.map(({ recording }) => recording));
		functions.isWhole = isPrinted;
		for (const timeline of timelines) {
			timeline.layOut();
			const high = timeline.strips.length ? timeline.strips[timeline.strips.length - 1].bottom : 0;
			timeline.canvas.style.height = isPrinted ? `${Math.min(high, MAX_PRINTED)}px` : "";
			if (isPrinted) timeline.scroller.scrollTop = 0;
		}
		if (isPrinted) flame.scroller.scrollTop = 0;
		flame.canvas.style.height = isPrinted && flame.high ? `${Math.min(flame.high, MAX_PRINTED)}px` : "";
		draw();
	};
	addEventListener("beforeprint", () => turn(true));
	addEventListener("afterprint", () => turn(false));
}

/** @param {App} app */
function setUpViews(app) {
	const pair = app.apps[1];
	const flame = pair ? new DiffFlameView(app) : new FlameView(app);
	const functions = pair ? new DiffTable(app) : new FunctionsView(app);
	const processes = new ProcessesView(app), overview = new Overview(app);
	const timeline = new Timeline(app);
	const timelines = pair ? [timeline, new Timeline(pair, "pair-timeline")] : [timeline];
	const views = { timeline, flame, functions, processes };
	let isDue = false;
	const draw = () => {
		isDue = false;
		overview.draw();
		if (app.state.view !== "timeline") return views[app.state.view].draw();
		return timelines.reduce((bars, one) => bars + one.draw(), 0);
	};
	app.shared.listeners.push((what) => {
		if (what === "state") { hideTip(); showState(app); showDetails(app); }
		if (what === "selected") {
			showDetails(app);
			for (const one of timelines) if (one.app === app.active) one.scrollToSelected();
			processes.scrollToSelected();
		}
		if (what === "text") {
			showDetails(app);
			for (const one of timelines) one.renewTip();
		}
		if (what === "search") { hideTip(); showSearch(app); overview.findMarks(); }
		if (isDue) return;
		isDue = true;
		requestAnimationFrame(draw);
	});
	const showAll = () => {
		for (const { scroller } of timelines) scroller.scrollTop = 0;
		processes.scrollTo(0);
		flame.scroller.scrollTop = 0;
		flame.root = flame.at = null;
		app.change({ zoom: null }, "push");
	};
	byId("collapse").addEventListener("click", () => {
		const isFolded = timelines.every((one) => one.isAllFolded());
		for (const one of timelines) one.toggleAll(isFolded);
		byId("collapse").textContent = isFolded ? "Collapse all" : "Expand all";
	});
	addEventListener("resize", () => { draw(); overview.findMarks(); });
	addEventListener("hashchange", () => app.readAddress());
	addEventListener("popstate", () => app.readAddress());
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		readColors(app.apps.map(({ recording }) => recording));
		draw();
	});
	setUpToolbar(app);
	setUpKeys(app, { timelines, processes, showAll });
	setUpPrint(app, { timelines, flame, functions, draw });
	return { ...views, timelines, overview, draw };
}

/** @param {string} id */
const readMeta = (id) => {
	const found = document.getElementById(id), meta = found && JSON.parse(found.textContent || "");
	found?.remove();
	return meta;
};

/**
 * @param {App} app
 * @param {ParentNode} within the element with the recording's blocks
 * @param {(part: number) => void} progress
 */
async function load(app, within, progress) {
	const { recording } = app;
	await loadBlocks(recording.meta.tasks, {
		task: (task, arrays) => {
			recording.fill(task, arrays);
			app.tell("draw");
		},
		texts: (index, texts) => { recording.textBlocks[index] = texts; },
		progress,
	}, within);
}

async function open() {
	const recording = new Recording(readMeta("meta")), other = readMeta("pair-meta");
	const recordings = other ? [recording, new Recording(other, recording.meta.zero)] : [recording];
	shareScale(recordings);
	readColors(recordings);
	const app = new App(recording), { apps } = app;
	for (const more of recordings.slice(1)) new App(more, app);
	if (other) setUpTwo(app);
	const views = setUpViews(app);
	const progress = /** @type {HTMLProgressElement} */ (byId("progress"));
	if (other) showTitleOfTwo(app);
	else showTitle(recording);
	showState(app);
	showDetails(app);
	views.draw();
	if (recording.meta.served) offerRecordings().catch(() => {});
	// For tests, and for people at the browser's console.
	Object.assign(window, { utrail: { app, recording, views } });
	try {
		if (recording.meta.served === "parts")
			await serveParts(app, views.timeline, progress, () => showTitle(recording));
		else for (const [k, one] of apps.entries()) {
			await load(one, other ? byId(k ? "pair-data" : "base-data") : document, (part) => {
				progress.value = (k + part) / apps.length;
			});
		}
		byId("loading").hidden = !recording.supplier?.hasEnded;
	} catch (error) {
		byId("loading").textContent = `The recording cannot be read: ${error}`;
	}
	for (const one of apps) {
		one.isReading = false;
		if (one.state.search) one.lookFor();
	}
	views.draw();
	document.documentElement.dataset.ready = "";
}

// In the page the data follows this script, so wait until the whole page was read.
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => setTimeout(open));
else open();
