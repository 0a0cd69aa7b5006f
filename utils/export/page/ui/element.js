/** Elements of the page. Texts of a recording are inserted as plain text, never as HTML. */

/**
 * Returns the page's element that has this id. The element must exist.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
	const found = document.getElementById(id);
	if (!found) throw new Error(`the page has no '${id}'`);
	return found;
}

/**
 * @param {string} id
 * @returns {HTMLCanvasElement}
 */
export const canvasById = (id) => /** @type {HTMLCanvasElement} */ (byId(id));

/**
 * @param {string} id
 * @returns {HTMLInputElement}
 */
export const inputById = (id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * Makes an element. An attribute whose value is a function is a listener ("click"). An attribute
 * whose value is true is written without a value.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | ((event: any) => void)>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function") made.addEventListener(name, value);
		else if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
	}
	made.append(...children);
	return made;
}

/**
 * Makes the body of a table. Rows are appended one by one: one call of append() for thousands of
 * rows would have too many arguments.
 * @param {HTMLElement[]} rows
 */
export function makeBody(rows) {
	const body = element("tbody");
	for (const row of rows) body.append(row);
	return body;
}

/**
 * Makes a table with a caption.
 * @param {string} caption
 * @param {(Node | string)[]} heads
 * @param {HTMLElement[]} rows
 */
export function makeTable(caption, heads, rows) {
	return element("table", {}, element("caption", {}, caption),
		element("thead", {}, element("tr", {},
			...heads.map((head) => element("th", { scope: "col" }, head)))),
		makeBody(rows));
}

/** The smallest distance of a menu from the window's edge, in pixels. */
const EDGE = 8;

/**
 * Moves a menu so that it does not reach beyond the window's left edge.
 * @param {HTMLElement} menu
 */
export function keepInWindow(menu) {
	menu.style.right = "";
	const { left } = menu.getBoundingClientRect();
	if (left < EDGE) menu.style.right = `${left - EDGE}px`;
}

/**
 * Returns the place of a pointer within the element `over`.
 * @param {HTMLElement} over
 * @param {{ clientX: number, clientY: number }} event
 */
export function pointIn(over, event) {
	const box = over.getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
}
