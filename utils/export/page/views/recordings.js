/** The list of recordings, on a page that `utrail show` gives: others of the same folder. */
import { byId, element } from "../ui/element.js";

/** The recording that the page is about: the last folder of its address. */
const shownNumber = () => Number(/(\d+)\/$/.exec(location.pathname)?.[1] || 0);

/** Ask the server, and offer the recordings that it has. */
export async function offerRecordings() {
	/** @type {string[]} */
	const names = await (await fetch("../recordings")).json();
	if (names.length < 2) return;
	const list = /** @type {HTMLSelectElement} */ (byId("recordings"));
	list.replaceChildren(...names.map((name, number) => element("option", { value: number }, name)));
	list.selectedIndex = shownNumber();
	list.hidden = false;
	// A browser that comes back shows the choice of the time when it left.
	addEventListener("pageshow", () => { list.selectedIndex = shownNumber(); });
	list.addEventListener("change", () => location.assign(`../${list.selectedIndex}/`));
}
