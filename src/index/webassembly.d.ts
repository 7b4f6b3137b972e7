/**
 * Type declarations for the part of WebAssembly that the compiled search kernel needs: TypeScript declares WebAssembly only in its DOM
 * library, which does not fit a server program.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { initial: number; maximum?: number })
    /** The memory as a buffer. After each `grow` it is a new object, and the previous one has length 0. */
    readonly buffer: ArrayBuffer
    /** Grows the memory by `pages` pages of 64 KiB. */
    grow(pages: number): number
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory } })
    readonly exports: unknown
  }
}
