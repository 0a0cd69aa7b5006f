/** Mouse, pen and fingers on a picture whose width is time. */

/** A pointer that moves less is a click, in pixels. */
const CLICK = 4;

/**
 * Wheel and pinch zoom, drag moves, shift and drag chooses a range.
 * @param {HTMLElement} over
 * @param {import("../state/app.js").App} app
 * @param {object} on
 * @param {(event: PointerEvent) => void} on.hover
 * @param {() => void} on.leave
 * @param {(event: PointerEvent) => void} on.click
 * @param {(pixels: number) => void} on.scrollBy
 */
export function followPointer(over, app, on) {
	/** @type {Map<number, PointerEvent>} */
	const down = new Map();
	/** @type {{ x: number, y: number, from: number, to: number, isRange: boolean } | null} */
	let drag = null;
	let hasMoved = false, spread = 0;
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
		drag = { x: event.clientX, y: event.clientY, from, to, isRange: event.shiftKey };
	};
	over.addEventListener("wheel", (event) => {
		event.preventDefault();
		if (event.shiftKey) on.scrollBy(event.deltaY || event.deltaX);
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) app.pan(event.deltaX / over.clientWidth);
		else app.zoomBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), timeAt(event.clientX));
	}, { passive: false });
	over.addEventListener("pointerdown", (event) => {
		down.set(event.pointerId, event);
		try { over.setPointerCapture(event.pointerId); } catch { /* it is gone already */ }
		hasMoved = down.size > 1;
		if (down.size === 2) spread = spreadOf();
		begin(event);
	});
	over.addEventListener("pointermove", (event) => {
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
		on.leave();
		if (drag.isRange) {
			const one = timeAt(drag.x), other = timeAt(event.clientX);
			const range = { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
			app.change({ range });
			return;
		}
		const step = dx / over.clientWidth * (drag.to - drag.from);
		app.setZoom({ from: drag.from - step, to: drag.to - step });
		// The browser itself scrolls by finger, where touch-action says so.
		if (event.pointerType !== "touch") on.scrollBy(old.clientY - event.clientY);
	});
	const end = (/** @type {PointerEvent} */ event) => {
		down.delete(event.pointerId);
		const isClick = drag && !hasMoved && event.type === "pointerup";
		const isRange = drag && hasMoved && drag.isRange;
		drag = null;
		if (down.size) { begin([...down.values()][0]); hasMoved = true; }
		if (isClick) on.click(event);
		if (isRange) app.change({ range: app.state.range }, "push");
	};
	over.addEventListener("pointerup", end);
	over.addEventListener("pointercancel", end);
	over.addEventListener("pointerleave", on.leave);
	over.addEventListener("dblclick", () => { if (app.selected) app.zoomTo(app.selected); });
}
