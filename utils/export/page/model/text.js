/** Functions that format numbers as text for the page. */

/** @param {number} n */
export const groups = (n) => n.toLocaleString("en");

/**
 * "1 call", "2,000 calls"
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const count = (n, one, many = `${one}s`) => `${groups(n)} ${n === 1 ? one : many}`;

/** @type {[scale: number, unit: string, digits: number][]} */
const UNITS = [[1e9, "s", 3], [1e6, "ms", 3], [1e3, "µs", 3], [1, "ns", 0]];

/** @param {number} ns */
export function timeText(ns) {
	const size = Math.abs(Math.round(ns));
	const [scale, unit, digits] = UNITS.find(([least]) => size >= least) || UNITS[3];
	// A zero has no sign.
	const value = Math.round(ns) / scale || 0, text = value.toFixed(digits);
	return `${size < 1e13 ? text : text.replace(/\B(?=(?:\d{3})+\.)/g, ",")} ${unit}`;
}

/**
 * Returns the text of a tick. All ticks of an axis have the same unit, and enough digits to differ.
 * @param {number} ns
 * @param {number} step between ticks
 * @param {number} most the largest absolute time at the axis; this time decides the unit
 */
export function tickText(ns, step, most) {
	const [scale, unit] = UNITS.find(([least]) => most >= least) || UNITS[3];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
	const text = (ns / scale).toLocaleString("en", {
		minimumFractionDigits: digits, maximumFractionDigits: digits,
	});
	return `${/[1-9]/.test(text) ? text : text.replace("-", "")} ${unit}`;
}

/**
 * "12.34 %"
 * @param {number} part
 * @param {number} all
 */
export const percent = (part, all) => `${(100 * part / (all || 1)).toFixed(2)} %`;

/**
 * "+1.234 ms"
 * @param {number} ns
 */
export const changeText = (ns) => `${Math.round(ns) > 0 ? "+" : ""}${timeText(ns)}`;

/**
 * Returns a text such as "+12.34 %".
 * @param {number} more in percent
 */
export function percentText(more) {
	const text = more.toFixed(2), isZero = !/[1-9]/.test(text);
	return `${more > 0 && !isZero ? "+" : ""}${isZero ? text.replace("-", "") : text} %`;
}
