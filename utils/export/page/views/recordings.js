/** The list on a page from `utrail show`: the recordings in the folder of the shown recording. */
import { byId, element } from "../ui/element.js";

/** The number of the shown recording, read from the last folder of the page's address. */
const shownNumber = () => Number(/(\d+)\/$/.exec(location.pathname)?.[1] || 0);

/** Request the list from the server, and show it. */
export async function offerRecordings() {
	/** @type {string[]} */
	const names = await (await fetch("../recordings")).json();
	if (names.length < 2) return;
	const list = /** @type {HTMLSelectElement} */ (byId("recordings"));
	list.replaceChildren(...names.map((name, number) => element("option", { value: number }, name)));
	list.selectedIndex = shownNumber();
	list.hidden = false;
	// When the user comes back to this page, select this page again in the list.
	addEventListener("pageshow", () => { list.selectedIndex = shownNumber(); });
	list.addEventListener("change", () => location.assign(`../${list.selectedIndex}/`));
}
