/** All that a worker does: a desk that is reached by messages. */
import { openDesk } from "./desk.js";

const take = openDesk((reply, moved) => {
	self.postMessage(reply, { transfer: moved });
});
self.addEventListener("message", (event) => take(event.data));
