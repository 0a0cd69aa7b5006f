/** The lines at which functions begin in their sources, and the text of the functions. */

/**
 * @typedef {object} SourceFile a source file in the page's JSON (utils/export/page/sources.h)
 * @property {string} file its name
 * @property {string} [why] the reason why its text is missing
 * @property {[number, ...string[]][]} [runs] runs of lines: the number of the first line, then the lines
 * @property {number[]} [ends] the first and the last line of each function
 */

/**
 * @typedef {object} Source of a function
 * @property {string} file the name of the source file
 * @property {number} line the number of the function's first line
 * @property {string} why the reason why lines are missing
 * @property {string[]} lines the lines of the function; the first one has the number `line`
 */

export class Sources {
	/**
	 * @param {number[]} places three numbers for each place: function, file and line
	 * @param {SourceFile[]} files
	 */
	constructor(places, files) {
		this.files = files;
		/** @type {Map<number, [file: number, line: number]>} */
		this.places = new Map();
		for (let i = 0; i + 2 < places.length; i += 3) this.places.set(places[i], [places[i + 1], places[i + 2]]);
	}

	/**
	 * Returns "FILE:LINE" of a function, or "" if its line was not recorded.
	 * @param {number} func
	 */
	place(func) {
		const place = this.places.get(func);
		return place ? `${this.files[place[0]].file}:${place[1]}` : "";
	}

	/**
	 * Returns the source of a function, or null if its line was not recorded.
	 * @param {number} func
	 * @returns {Source | null}
	 */
	of(func) {
		const place = this.places.get(func);
		if (!place) return null;
		const [number, line] = place, { file, why = "", runs = [], ends = [] } = this.files[number];
		const made = { file, line, why, lines: /** @type {string[]} */ ([]) };
		if (why) return made;
		let last = 0;
		for (let i = 0; i + 1 < ends.length; i += 2) if (ends[i] === line) last = ends[i + 1];
		const run = runs.find(([first, ...lines]) => first <= line && last < first + lines.length);
		if (run) made.lines = run.slice(1 + line - run[0], 2 + last - run[0]).map(String);
		else made.why = last ? "is left out: the page has a megabyte of sources" : "has no such line";
		return made;
	}
}
