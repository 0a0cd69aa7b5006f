/** Mouse, pen and fingers on a picture whose width is time. */

/** A press is a click when the pointer moves less than this number of pixels. */
const CLICK = 4;

/**
 * Listens to the pointer: the wheel or a pinch zooms the picture, a drag moves it, and a drag with
 * shift chooses a range.
 * @param {HTMLElement} over
 * @param {import("../state/app.js").App} app
 * @param {object} on
 * @param {(event: PointerEvent) => void} on.hover
 * @param {() => void} on.leave
 * @param {(event: PointerEvent) => void} on.click
 * @param {(pixels: number) => void} on.scrollBy
 * @param {HTMLElement} [above] an element above the picture, with buttons
 */
export function followPointer(over, app, on, above) {
	/** @type {Map<number, PointerEvent>} */
	const down = new Map();
	/**
	 * @type {{
	 *     x: number, y: number, from: number, to: number, isRange: boolean,
	 *     old: import("../model/recording.js").Range | null,
	 * } | null}
	 */
	let drag = null;
	let hasMoved = false, spread = 0;
	const capture = (/** @type {PointerEvent} */ event) => {
		try { over.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
	};
	const timeAt = (/** @type {number} */ clientX) => {
		const box = over.getBoundingClientRect(), { from, to } = app.zoom;
		return from + (clientX - box.left) / box.width * (to - from);
	};
	const spreadOf = () => {
		const [a, b] = [...down.values()];
		return Math.max(10, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
	};
	const begin = (/** @type {PointerEvent} */ event) => {
		const { from, to } = app.zoom;
		drag = { x: event.clientX, y: event.clientY, from, to, isRange: event.shiftKey, old: app.state.range };
	};
	const onWheel = (/** @type {WheelEvent} */ event) => {
		event.preventDefault();
		if (event.shiftKey) on.scrollBy(event.deltaY || event.deltaX);
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) app.pan(event.deltaX / over.clientWidth);
		else app.zoomBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), timeAt(event.clientX));
	};
	const onDown = (/** @type {PointerEvent} */ event) => {
		down.set(event.pointerId, event);
		// If the press is on a button of `above`, the pointer is captured only after the
		// pointer has moved. If the pointer does not move, this button gets the click.
		if (event.target === over) capture(event);
		hasMoved = down.size > 1;
		if (down.size === 2) spread = spreadOf();
		begin(event);
	};
	const onMove = (/** @type {PointerEvent} */ event) => {
		if (!drag || !down.has(event.pointerId)) { on.hover(event); return; }
		const old = /** @type {PointerEvent} */ (down.get(event.pointerId));
		down.set(event.pointerId, event);
		if (down.size === 2) {
			const now = spreadOf(), [a, b] = [...down.values()];
			app.zoomBy(spread / now, timeAt((a.clientX + b.clientX) / 2));
			spread = now;
			return;
		}
		const dx = event.clientX - drag.x;
		if (Math.abs(dx) + Math.abs(event.clientY - drag.y) > CLICK) hasMoved = true;
		if (!hasMoved) return;
		capture(event);
		on.leave();
		if (drag.isRange) {
			const one = timeAt(drag.x), other = timeAt(event.clientX);
			const range = { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
			app.change({ range });
			return;
		}
		const step = dx / over.clientWidth * (drag.to - drag.from);
		app.setZoom({ from: drag.from - step, to: drag.to - step });
		// When a finger is dragged, the browser itself scrolls (touch-action in style.css).
		if (event.pointerType !== "touch") on.scrollBy(old.clientY - event.clientY);
	};
	const onEnd = (/** @type {PointerEvent} */ event) => {
		down.delete(event.pointerId);
		const isClick = drag && !hasMoved && event.type === "pointerup" && event.target === over;
		if (drag && hasMoved && drag.isRange) {
			const { range } = app.state;
			// "Back" leads to the view before the drag.
			app.state.range = drag.old;
			app.change({ range }, "push");
		}
		drag = null;
		if (down.size) { begin([...down.values()][0]); hasMoved = true; }
		if (isClick) on.click(event);
	};
	for (const one of above ? [over, above] : [over]) {
		one.addEventListener("wheel", onWheel, { passive: false });
		one.addEventListener("pointerdown", onDown);
		one.addEventListener("pointermove", onMove);
		one.addEventListener("pointerup", onEnd);
		one.addEventListener("pointercancel", onEnd);
		one.addEventListener("pointerleave", on.leave);
	}
	over.addEventListener("dblclick", () => { if (app.selected) app.zoomTo(app.selected); });
}
