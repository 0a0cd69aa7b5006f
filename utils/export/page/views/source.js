/** Shows the source of a function. */
import { element } from "../ui/element.js";

/**
 * @param {import("../model/sources.js").Sources} sources
 * @param {number} func
 */
export function makeSource(sources, func) {
	const source = sources.of(func);
	if (!source) {
		const why = sources.places.size ? "The source line of this function is not known."
			: "Source lines were not recorded: record --srcline does.";
		return element("p", { id: "source" }, why);
	}
	const { file, line, why, lines } = source;
	const place = element("p", {}, "Source: ", element("code", {}, `${file}:${line}`));
	if (why) {
		place.append(`; it ${why}.`);
		return element("div", { id: "source" }, place);
	}
	const wide = String(line + lines.length - 1).length;
	const label = `Source of ${file}, from line ${line}`;
	const text = element("pre", { tabindex: 0, role: "region", "aria-label": label },
		...lines.map((code, i) => element("span", {},
			element("i", {}, String(line + i).padStart(wide)), ` ${code}\n`)));
	return element("div", { id: "source" }, place, text);
}
