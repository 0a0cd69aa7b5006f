/** The text next to the pointer. */
import { byId, element } from "./element.js";

export function hideTip() { byId("tip").hidden = true; }

/**
 * @param {{ clientX: number, clientY: number }} event
 * @param {string} title
 * @param {string[]} lines
 */
export function showTip(event, title, ...lines) {
	const box = byId("tip");
	box.replaceChildren(element("b", {}, title),
		...lines.filter(Boolean).map((line) => element("div", {}, line)));
	box.hidden = false;
	const wide = box.offsetWidth, high = box.offsetHeight, { clientX: x, clientY: y } = event;
	box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - wide - 8))}px`;
	box.style.top = `${y + 18 + high > innerHeight ? Math.max(4, y - high - 10) : y + 18}px`;
}
