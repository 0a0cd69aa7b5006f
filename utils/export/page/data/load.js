/** Sends the blocks of the page to workers. */
import { openDesk } from "./desk.js";

/**
 * The largest number of workers. More would not be faster: only one thread reads the page's text.
 */
const MAX_WORKERS = 4;
/** After sending blocks for this time, in ms, the page pauses, so that the browser can draw. */
const HAND_OUT_MS = 12;

/**
 * Opens a worker for requests. If the browser has no workers, the page itself handles the requests.
 * @param {(reply: import("./desk.js").Reply) => void} onReply
 */
function openOne(onReply) {
	const source = document.getElementById("worker")?.textContent || "";
	try {
		const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
		const worker = new Worker(address);
		worker.addEventListener("message", (event) => onReply(event.data));
		return {
			take: (/** @type {import("./desk.js").Request} */ request) => worker.postMessage(request),
			close: () => { worker.terminate(); URL.revokeObjectURL(address); },
		};
	} catch {
		return { take: openDesk((reply) => setTimeout(onReply, 0, reply)), close: () => {} };
	}
}

/** Lets the browser do other work, such as drawing. */
export function pause() {
	return new Promise((resolve) => { setTimeout(resolve, 0); });
}

/**
 * Chooses a worker for each task, so that all workers get about the same number of calls.
 * @param {{ calls: number }[]} tasks
 * @param {number} nr
 */
export function shareTasks(tasks, nr) {
	const loads = new Array(nr).fill(0), shares = new Array(tasks.length).fill(0);
	const order = [...tasks.keys()].sort((a, b) => tasks[b].calls - tasks[a].calls || a - b);
	for (const task of order) {
		const least = loads.indexOf(Math.min(...loads));
		shares[task] = least;
		loads[least] += tasks[task].calls + 1;
	}
	return shares;
}

/**
 * Reads all blocks of the page. Resolves when @take has received all tasks and texts.
 * @param {{ calls: number, points: number }[]} tasks
 * @param {object} take
 * @param {(task: number, arrays: import("./decode.js").TaskArrays) => void} take.task
 * @param {(index: number, texts: import("./decode.js").TextBlock) => void} take.texts
 * @param {(part: number) => void} take.progress the part that was read, from 0 to 1
 * @param {ParentNode} within the element with the blocks
 */
export async function loadBlocks(tasks, take, within = document) {
	const found = within.querySelectorAll("script[data-task]");
	const blocks = /** @type {HTMLScriptElement[]} */ ([...found]);
	const all = blocks.reduce((sum, block) => sum + (block.firstChild?.nodeValue || "").length, 0);
	let read = 0, texts = 0, missing = tasks.length;
	const nrTexts = blocks.filter((block) => block.className === "texts").length;
	const nr = Math.max(1, Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 2, blocks.length));
	/** @type {(value?: unknown) => void} */
	let done = () => {};
	/** @type {(reason: Error) => void} */
	let fail = () => {};
	const end = new Promise((resolve, reject) => { done = resolve; fail = reject; });
	const check = () => { if (missing === 0 && texts === nrTexts) done(); };
	/** @param {import("./desk.js").Reply} reply */
	const onReply = (reply) => {
		if (reply.kind === "task") { take.task(reply.task, reply.arrays); missing--; }
		if (reply.kind === "texts") take.texts(texts++, reply.texts);
		if (reply.kind === "read") take.progress((read += reply.bytes) / all);
		if (reply.kind === "error") fail(new Error(reply.message));
		check();
	};
	const desks = Array.from({ length: nr }, () => openOne(onReply));
	const shares = shareTasks(tasks, nr);
	tasks.forEach(({ calls, points }, task) => {
		desks[shares[task]].take({ kind: "task", task, calls, points });
	});
	let since = performance.now();
	for (const block of blocks) {
		const kind = /** @type {"calls" | "points" | "texts"} */ (block.className);
		const task = Number(block.dataset.task), isPacked = block.dataset.packed !== undefined;
		// One worker reads all texts, so that they come in order.
		const desk = desks[kind === "texts" ? nr - 1 : shares[task]];
		desk.take({ kind, task, isPacked, base64: block.textContent || "" });
		block.remove();
		if (performance.now() - since < HAND_OUT_MS) continue;
		await pause();
		since = performance.now();
	}
	check();
	await end;
	for (const desk of desks) desk.close();
}
