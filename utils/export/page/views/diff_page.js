/**
 * Changes the page for two recordings (`dump --diff`): adds the second timeline, and changes texts.
 */
import { byId } from "../ui/element.js";
import { count, groups, timeText } from "../model/text.js";

/** Copies the elements of the first timeline, with other ids. */
function copyTimeline() {
	const first = byId("timeline-of-one"), copy = /** @type {HTMLElement} */ (first.cloneNode(true));
	for (const one of [copy, ...copy.querySelectorAll("[id]")])
		one.id = one.id.replace("timeline-", "pair-timeline-");
	first.after(copy);
}

/**
 * Adds the second timeline, and writes the titles of the two timelines. Call this function before
 * views are made, because views need the elements of the second timeline.
 * @param {import("../state/app.js").App} app
 */
export function setUpTwo(app) {
	copyTimeline();
	document.documentElement.classList.add("two");
	const titles = ["Base", "New"], names = ["timeline", "pair-timeline"];
	app.apps.forEach(({ recording: { meta, calls, tasks, length } }, k) => {
		const about = [count(calls, "call"), count(tasks.length, "task"), timeText(length),
			meta.lost ? `${count(meta.lost, "record")} lost` : "", meta.date];
		const title = byId(`${names[k]}-title`);
		title.textContent = `${titles[k]}: ${meta.dir} (${about.filter(Boolean).join(", ")})`;
		title.title = meta.cmdline;
		title.hidden = false;
		byId(`${names[k]}-scroller`).setAttribute("aria-label",
			`Timeline of ${titles[k].toLowerCase()}, ${count(tasks.length, "task")}`);
		byId(`${names[k]}-axis`).setAttribute("aria-label", `Axis of time of ${titles[k].toLowerCase()}`);
	});
}

/** @param {import("../state/app.js").App} app */
export function showTitleOfTwo({ apps }) {
	const [base, pair] = apps.map(({ recording }) => recording);
	const name = base.meta.title === pair.meta.title ? base.meta.title
		: `${base.meta.title} and ${pair.meta.title}`;
	document.title = `${name}, difference – utrail`;
	byId("title").textContent = name;
	const more = pair.length - base.length;
	byId("about").textContent = `base ${base.meta.dir}, new ${pair.meta.dir}: ` +
		`${groups(base.calls)} → ${count(pair.calls, "call")}, ` +
		`${timeText(Math.abs(more))} ${more > 0 ? "longer" : "shorter"}` +
		[base, pair].map(({ meta: { lost } }, k) =>
			(lost ? `, ${count(lost, "record")} of ${k ? "new" : "base"} lost` : "")).join("");
	byId("about").title = byId("about").textContent || "";
}
