/**
 * Memory in which questions do their sums, one after another; of several at work at a time each has its own. A question over ten
 * conversations takes a hundred arrays; allocated each time they are half a megabyte that lies outside the heap, and such memory
 * makes V8 collect all of the heap.
 */

/** Bytes kept between questions; what a question needs beyond that is its own. */
const MOST = 16 * 1024 * 1024
const ALIGNED = 8

export class Workspace {
  #memory = new ArrayBuffer(0)
  #used = 0
  /** By the question so far, whether or not there was room. */
  #wanted = 0

  /** For the next question: what was given out before is given out again. */
  clear(): void {
    if (this.#wanted > this.#memory.byteLength && this.#memory.byteLength < MOST) {
      this.#memory = new ArrayBuffer(Math.min(MOST, 2 ** Math.ceil(Math.log2(this.#wanted))))
    }
    this.#used = 0
    this.#wanted = 0
  }

  /** As those below, all 0 at first. */
  float64(length: number): Float64Array {
    const at = this.#take(length * Float64Array.BYTES_PER_ELEMENT)
    return at < 0 ? new Float64Array(length) : new Float64Array(this.#memory, at, length).fill(0)
  }

  uint32(length: number): Uint32Array {
    const at = this.#take(length * Uint32Array.BYTES_PER_ELEMENT)
    return at < 0 ? new Uint32Array(length) : new Uint32Array(this.#memory, at, length).fill(0)
  }

  uint16(length: number): Uint16Array {
    const at = this.#take(length * Uint16Array.BYTES_PER_ELEMENT)
    return at < 0 ? new Uint16Array(length) : new Uint16Array(this.#memory, at, length).fill(0)
  }

  uint8(length: number): Uint8Array {
    const at = this.#take(length)
    return at < 0 ? new Uint8Array(length) : new Uint8Array(this.#memory, at, length).fill(0)
  }

  /** Where so many bytes are free; -1: there is no room. */
  #take(bytes: number): number {
    const size = Math.ceil(bytes / ALIGNED) * ALIGNED
    this.#wanted += size
    const at = this.#used
    if (at + size > this.#memory.byteLength) return -1
    this.#used = at + size
    return at
  }
}

/** Workspaces kept for questions to come. */
const MOST_KEPT = 2

/** Gives each question at work a workspace that no other has. */
export class Workspaces {
  readonly #free: Workspace[] = []

  /** To be given back when nothing reads the arrays any more; one that never is, is left to the garbage collector. */
  take(): Workspace {
    const workspace = this.#free.pop() ?? new Workspace()
    workspace.clear()
    return workspace
  }

  giveBack(workspace: Workspace): void {
    if (this.#free.length < MOST_KEPT) this.#free.push(workspace)
  }
}
