/** Opens a page that `dump --format=html` has written, without a browser. */
import { readFileSync } from "node:fs";
import { openDesk } from "../../../../../utils/export/page/data/desk.js";
import { Recording } from "../../../../../utils/export/page/model/recording.js";

/**
 * Returns the recording of a page, when all of it was read.
 * @param {string} path
 */
export async function openPage(path) {
	const page = readFileSync(path, "utf8");
	const [, meta] = /<script type="application\/json" id="meta">([^]*?)<\/script>/.exec(page);
	const recording = new Recording(JSON.parse(meta));
	const blocks = page.matchAll(/class="(\w+)" data-task="(\d+)"( data-packed)?>([^<]*)</g);
	let missing = recording.tasks.length, error;
	const requests = recording.tasks.map(({ info: { calls, points } }, task) =>
		({ kind: "task", task, calls, points }));
	for (const [, kind, task, isPacked, base64] of blocks)
		requests.push({ kind, task: Number(task), isPacked: Boolean(isPacked), base64 });
	await new Promise((resolve) => {
		let unread = requests.length - recording.tasks.length;
		const take = openDesk((reply) => {
			if (reply.kind === "task") recording.tasks[reply.task].fill(reply.arrays, recording.isWait);
			if (reply.kind === "task") missing--;
			if (reply.kind === "texts") recording.textBlocks.push(reply.texts);
			if (reply.kind === "read") unread--;
			if (reply.kind === "error") error = reply.message;
			if (error || (missing === 0 && unread === 0)) resolve();
		});
		for (const request of requests) take(request);
		if (!requests.length) resolve();
	});
	if (error) throw new Error(error);
	return recording;
}
