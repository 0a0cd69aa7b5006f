/**
 * Decodes the blocks of each task. This module runs in a worker or, if the browser has no workers,
 * in the page itself.
 */
import { TaskDecoder, decodeTexts, fromBase64, unpack } from "./decode.js";

/**
 * @typedef {object} Request
 * @property {"task" | "calls" | "points" | "texts"} kind "task" announces a task
 * @property {number} task
 * @property {number} [calls] how many calls the announced task has
 * @property {number} [points] how many points the announced task has
 * @property {string} [base64]
 * @property {boolean} [isPacked]
 */

/**
 * @typedef {{ kind: "task", task: number, arrays: import("./decode.js").TaskArrays }
 *     | { kind: "texts", texts: import("./decode.js").TextBlock }
 *     | { kind: "read", bytes: number }
 *     | { kind: "error", message: string }} Reply
 */

/**
 * Returns a function that takes requests, which are answered in their order.
 * @param {(reply: Reply, moved: ArrayBuffer[]) => void} reply
 */
export function openDesk(reply) {
	/** @type {Map<number, TaskDecoder>} */
	const decoders = new Map();

	/** @param {Request} request */
	async function handle({ kind, task, calls = 0, points = 0, base64 = "", isPacked }) {
		if (kind === "task") {
			decoders.set(task, new TaskDecoder(calls, points));
		} else {
			const raw = fromBase64(base64), bytes = isPacked ? await unpack(raw) : raw;
			const decoder = decoders.get(task);
			if (kind === "texts") {
				const texts = decodeTexts(bytes);
				reply({ kind, texts }, [texts.bytes.buffer, texts.starts.buffer]);
			} else if (decoder) {
				if (kind === "calls") decoder.addCalls(bytes);
				else decoder.addPoints(bytes);
			}
			reply({ kind: "read", bytes: base64.length }, []);
		}
		const decoder = decoders.get(task);
		if (kind === "texts" || !decoder || !decoder.isComplete()) return;
		decoders.delete(task);
		const arrays = decoder.finish();
		const { start, dur, ctx, text, rows } = arrays;
		const moved = [start, dur, ctx, ...(text ? [text] : []), ...rows].map((a) => a.buffer);
		reply({ kind: "task", task, arrays }, /** @type {ArrayBuffer[]} */ (moved));
	}

	let last = Promise.resolve();
	return (/** @type {Request} */ request) => {
		last = last.then(() => handle(request)).catch((error) => {
			reply({ kind: "error", message: String(error) }, []);
		});
	};
}
