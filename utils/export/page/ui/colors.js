/** Colours of the style sheet, for canvases. */

const NAMES = ["back", "panel", "line", "text", "dim", "accent", "grid", "bar-text", "mark",
	"sat", "light", "wait", "on-accent"];

/** @type {Record<string, string>} */
export const colors = {};
/**
 * Returns the colour of a function. All recordings use the same colour for the same name.
 * @param {string} name
 */
function colorOfName(name) {
	let hash = 2166136261;
	for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 16777619);
	const hue = (hash >>> 0) % 360, shade = ((hash >>> 9) % 11) - 5;
	return `hsl(${hue} ${colors.sat} ${parseInt(colors.light, 10) + shade}%)`;
}

/**
 * Reads the colours of the style sheet, and makes the colours of the recordings' functions. The
 * page calls this function again when the page changes between light and dark, and when a recording
 * gets new functions.
 * @param {import("../model/recording.js").Recording[]} recordings
 */
export function readColors(recordings) {
	const style = getComputedStyle(document.documentElement);
	for (const name of NAMES) colors[name] = style.getPropertyValue(`--${name}`).trim();
	for (const recording of recordings) {
		const { names, isWait } = recording;
		recording.fills = names.map((name, func) => (isWait[func] ? colors.wait : colorOfName(name)));
	}
}
