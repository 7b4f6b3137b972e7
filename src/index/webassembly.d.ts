/**
 * Type declarations for the part of WebAssembly that the kernel needs: TypeScript declares it only in its DOM library, which does not fit a
 * server program.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { initial: number; maximum?: number })
    /** A new object after each `grow`; the previous one is then empty. */
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
