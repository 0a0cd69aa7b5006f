/** Ranges of time in the syntax of `report -r`. */

const RANGE_UNITS = new Map([
	["ns", 1], ["nsec", 1], ["us", 1e3], ["usec", 1e3], ["ms", 1e6], ["msec", 1e6],
	["s", 1e9], ["sec", 1e9], ["m", 60e9], ["min", 60e9],
]);

/**
 * Returns one end of a range, in ns since @base, or null if the text is not a time.
 * @param {string} text
 * @param {{ base: string, zero: number }} meta
 */
function parseEdge(text, { base, zero }) {
	const match = /^(\d+(?:\.\d+)?|\.\d+)([a-zµ]*)$/i.exec(text.trim());
	if (!match) return null;
	const unit = match[2].toLowerCase().replace("µ", "u");
	// A timestamp in ns may be too large for an exact double. The time since @base is exact. So
	// the subtraction of @base comes before the conversion to a double.
	if (!unit) {
		const [seconds, part = ""] = match[1].split(".");
		return Number(BigInt(seconds + part.slice(0, 9).padEnd(9, "0")) - BigInt(base));
	}
	const scale = RANGE_UNITS.get(unit);
	return scale ? Math.round(Number(match[1]) * scale) + zero : null;
}

/**
 * Parses "FROM~TO". A time with a unit counts from the first record; a time without a unit is a
 * timestamp in seconds. An empty side is open. Returns null for other texts.
 * @param {string} text
 * @param {{ first: number, last: number, meta: { base: string, zero: number } }} recording
 * @returns {import("./recording.js").Range | null}
 */
export function parseRange(text, { first, last, meta }) {
	const sides = text.split("~");
	if (sides.length !== 2 || !text.replace("~", "").trim()) return null;
	const from = sides[0].trim() ? parseEdge(sides[0], meta) : first;
	const to = sides[1].trim() ? parseEdge(sides[1], meta) : last;
	return from === null || to === null || to < from ? null : { from, to };
}

/** The narrowest visible range, in ns. */
export const LEAST_SEEN = 20;
/** Beyond each end of the recording, the page may show this fraction of the recording's length. */
const MARGIN = 0.02;

/**
 * Returns the range that can be shown and is nearest to the given range. If possible, the returned
 * range is as wide as the given range. If the returned range would contain the whole recording,
 * returns null.
 * @param {import("./recording.js").Range} range
 * @param {{ first: number, last: number }} recording
 */
export function fitZoom({ from, to }, { first, last }) {
	const all = last - first, margin = all * MARGIN;
	const width = Math.min(Math.max(to - from, LEAST_SEEN), Math.max(all + 2 * margin, LEAST_SEEN));
	let start = Math.max((from + to) / 2 - width / 2, first - margin);
	start = Math.min(start, Math.max(last + margin - width, first - margin));
	return start <= first && start + width >= last ? null : { from: start, to: start + width };
}

/**
 * Parses the zoom in the address of the page. Returns null if @text is no range, if the range is
 * outside of the recording, or if fitZoom() returns null. Null stands for the whole recording.
 * @param {string} text
 * @param {{ first: number, last: number, meta: { base: string, zero: number } }} recording
 */
export function parseZoom(text, recording) {
	const range = parseRange(text, recording), { first, last } = recording;
	if (!range || range.to < first || range.from > last) return null;
	return range.to - range.from < LEAST_SEEN || range.from < first || range.to > last
		? fitZoom(range, recording) : range;
}

/**
 * Returns the exact time, in the largest unit that gives a number of at least 1.
 * @param {number} ns
 */
function edgeText(ns) {
	const whole = Math.max(0, Math.round(ns));
	const [unit, scale, digits] = whole >= 1e9 ? ["s", 1e9, 9] : whole >= 1e6 ? ["ms", 1e6, 6]
		: whole >= 1e3 ? ["us", 1e3, 3] : ["ns", 1, 0];
	const text = (whole / Number(scale)).toFixed(Number(digits));
	return (text.includes(".") ? text.replace(/\.?0+$/, "") : text) + unit;
}

/**
 * @param {import("./recording.js").Range} range
 * @param {{ meta: { zero: number } }} recording
 */
export const rangeText = ({ from, to }, { meta: { zero } }) =>
	`${edgeText(from - zero)}~${edgeText(to - zero)}`;
