/**
 * A list with a check box for each kind of events. The page shows the events of the checked kinds.
 * A button opens the list.
 */
import { byId, element, keepInWindow } from "../ui/element.js";
import { count } from "../model/text.js";

/**
 * Returns the kinds of events in all recordings of the page, with the number of events of each
 * kind.
 * @param {import("../state/app.js").App} app
 */
function findKinds(app) {
	/** @type {Map<string, number>} */
	const kinds = new Map();
	for (const { recording } of app.apps)
		for (const { name, count: nr } of recording.kinds) kinds.set(name, (kinds.get(name) || 0) + nr);
	return kinds;
}

/**
 * Makes a check box for each kind.
 * @param {import("../state/app.js").App} app
 * @param {Map<string, number>} kinds
 */
function makeRows(app, kinds) {
	const set = (/** @type {Iterable<string>} */ hidden) => app.change({ hiddenKinds: new Set(hidden) }, "push");
	const rows = [...kinds].map(([name, nr]) => element("label", {},
		element("input", {
			type: "checkbox", "data-kind": name,
			change: (event) => {
				const hidden = new Set(app.state.hiddenKinds);
				if (event.target.checked) hidden.delete(name); else hidden.add(name);
				set(hidden);
			},
		}), element("span", {}, name), element("i", {}, count(nr, "event"))));
	byId("kinds").replaceChildren(...rows, element("span", { class: "buttons" },
		element("button", { class: "tool", click: () => set([]) }, "All kinds"),
		element("button", { class: "tool", click: () => set(kinds.keys()) }, "No events")));
}

export function setUpKinds() {
	const box = byId("kinds-box"), button = byId("kinds-button"), list = byId("kinds");
	const open = (/** @type {boolean} */ isOpen) => {
		list.hidden = !isOpen;
		button.setAttribute("aria-expanded", String(isOpen));
		if (isOpen) keepInWindow(list);
		if (isOpen) list.querySelector("input")?.focus();
	};
	button.addEventListener("click", () => open(list.hidden));
	list.addEventListener("keydown", (event) => {
		const inputs = [...list.querySelectorAll("input")];
		const at = inputs.findIndex((input) => input === document.activeElement);
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if (step) inputs[(at + step + inputs.length) % inputs.length].focus();
		if (event.key === "Escape") { open(false); button.focus(); }
		// The page has commands for keys (keys.js). A key that the user presses while the
		// list has the focus must not reach the page.
		if (step || event.key === "Escape") event.preventDefault();
		event.stopPropagation();
	});
	document.addEventListener("pointerdown", (event) => {
		if (!list.hidden && !box.contains(/** @type {Node} */ (event.target))) open(false);
	});
	return () => { if (!box.hidden) open(true); };
}

/** @param {import("../state/app.js").App} app */
export function showKinds(app) {
	const { state } = app, kinds = findKinds(app), list = byId("kinds");
	const made = JSON.stringify([...kinds]);
	// While the server reads a recording, new kinds of events may appear.
	if (list.dataset.made !== made && !list.contains(document.activeElement)) {
		makeRows(app, kinds);
		list.dataset.made = made;
		byId("kinds-box").hidden = !kinds.size;
	}
	for (const input of list.querySelectorAll("input"))
		input.checked = !state.hiddenKinds.has(input.dataset.kind || "");
	const nr = state.hiddenKinds.size;
	byId("kinds-button").textContent = nr ? `Events (${nr} hidden)` : "Events";
}
