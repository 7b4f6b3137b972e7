/** The part of WebAssembly that the kernel needs: TypeScript declares it in the DOM library only, which is no server's. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { initial: number; maximum?: number })
    /** Another object after each `grow`; the old one is then empty. */
    readonly buffer: ArrayBuffer
    /** By so many pages of 64 KiB. */
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
