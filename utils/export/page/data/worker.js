/** The script of a worker: it handles requests that come as messages. */
import { openDesk } from "./desk.js";

const take = openDesk((reply, moved) => {
	self.postMessage(reply, { transfer: moved });
});
self.addEventListener("message", (event) => take(event.data));
