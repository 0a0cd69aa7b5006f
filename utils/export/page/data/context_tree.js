/**
 * The contexts of a task's calls, as a tree. A node has a function, and the parent node has the
 * caller of this function. A call is stored as the number of the call's node.
 */

const MIN_NODES = 64;

/** The nodes, by number. Node 0 is the root, which has no function. */
export class ContextTree {
	constructor() {
		this.nr = 1;
		this.func = new Int32Array(MIN_NODES).fill(-1, 0, 1);
		this.parent = new Int32Array(MIN_NODES).fill(-1, 0, 1);
		this.depth = new Int32Array(MIN_NODES).fill(-1, 0, 1);
		/** An open hash table. A used slot holds the number of a node. A free slot holds 0. */
		this.slots = new Int32Array(MIN_NODES * 4);
	}

	/**
	 * Returns the child node of @parent that has the function @func. If there is no such node,
	 * makes the node.
	 * @param {number} parent
	 * @param {number} func
	 * @returns {number}
	 */
	child(parent, func) {
		const mask = this.slots.length - 1;
		let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b)) & mask;
		for (let node; (node = this.slots[at]) !== 0; at = (at + 1) & mask)
			if (this.parent[node] === parent && this.func[node] === func) return node;
		if (this.nr === this.func.length) {
			this.#grow();
			return this.child(parent, func);
		}
		const node = this.nr++;
		this.slots[at] = node;
		this.func[node] = func;
		this.parent[node] = parent;
		this.depth[node] = this.depth[parent] + 1;
		return node;
	}

	#grow() {
		const double = (/** @type {Int32Array} */ old) => {
			const more = new Int32Array(old.length * 2);
			more.set(old);
			return more;
		};
		this.func = double(this.func);
		this.parent = double(this.parent);
		this.depth = double(this.depth);
		this.slots = new Int32Array(this.slots.length * 2);
		const mask = this.slots.length - 1;
		for (let node = 1; node < this.nr; node++) {
			const func = this.func[node], parent = this.parent[node];
			let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b)) & mask;
			while (this.slots[at] !== 0) at = (at + 1) & mask;
			this.slots[at] = node;
		}
	}
}
