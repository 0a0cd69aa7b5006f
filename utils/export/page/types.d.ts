/** Declarations of browsers' functions that an older TypeScript does not have. */
declare class DecompressionStream {
	constructor(format: "deflate");
	readable: ReadableStream<Uint8Array>;
	writable: WritableStream<Uint8Array>;
}
