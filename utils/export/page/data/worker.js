/** The whole of a worker: a desk behind messages. */
import { openDesk } from "./desk.js";

const take = openDesk((reply, moved) => {
	self.postMessage(reply, { transfer: moved });
});
self.addEventListener("message", (event) => take(event.data));
