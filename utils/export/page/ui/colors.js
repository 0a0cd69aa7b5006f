/** Colours of the style sheet, for canvases. */

const NAMES = ["back", "panel", "line", "text", "dim", "accent", "grid", "bar-text", "mark",
	"sat", "light", "wait", "on-accent"];

/** @type {Record<string, string>} */
export const colors = {};
/** @type {string[]} by function */
let ofFunctions = [];

/** @param {number} func */
export const colorOf = (func) => ofFunctions[func];

/**
 * A function has the same colour in all recordings.
 * @param {string} name
 */
function colorOfName(name) {
	let hash = 2166136261;
	for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 16777619);
	const hue = (hash >>> 0) % 360, shade = ((hash >>> 9) % 11) - 5;
	return `hsl(${hue} ${colors.sat} ${parseInt(colors.light, 10) + shade}%)`;
}

/**
 * To be called when the page is light that was dark.
 * @param {import("../model/recording.js").Recording} recording
 */
export function readColors({ names, isWait }) {
	const style = getComputedStyle(document.documentElement);
	for (const name of NAMES) colors[name] = style.getPropertyValue(`--${name}`).trim();
	ofFunctions = names.map((name, func) => (isWait[func] ? colors.wait : colorOfName(name)));
}
