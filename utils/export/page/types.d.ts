/** What browsers have and an older TypeScript does not know of. */
declare class DecompressionStream {
	constructor(format: "deflate");
	readable: ReadableStream<Uint8Array>;
	writable: WritableStream<Uint8Array>;
}
