/** Reads files in ZIP archives without unpacking to disk; the amount that is unpacked to memory is limited. */
import type { Readable } from 'node:stream'
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from 'yauzl'

/** Maximum total number of bytes that are unpacked from one document. */
const MAX_UNPACKED = 512 * 1024 * 1024
/**
 * Maximum ratio of unpacked to compressed size; a higher one indicates an archive made to fill memory. Real documents reach about 60;
 * DEFLATE can reach 1,032.
 */
const MAX_RATIO = 250
/** Size in bytes of an unpacked file below which its compression ratio is not checked. */
const RATIO_FROM = 8 * 1024 * 1024
const MAX_FILES = 100_000

/** Error for an archive that cannot be read; its message says why. */
export class ZipError extends Error {
  override readonly name = 'ZipError'
  readonly isEncrypted: boolean

  constructor(message: string, isEncrypted = false) {
    super(message)
    this.isEncrypted = isEncrypted
  }
}

/** Opens an archive on disk, without a limit on the total unpacked size, for callers that read its files as streams. `path`: absolute. */
export async function openZipFile(path: string): Promise<ZipArchive> {
  return await ZipArchive.of(openPromise(path, { lazyEntries: true, autoClose: false }), Number.POSITIVE_INFINITY)
}

export async function openZip(bytes: Uint8Array): Promise<ZipArchive> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return await ZipArchive.of(fromBufferPromise(buffer, { lazyEntries: true }), MAX_UNPACKED)
}

export class ZipArchive {
  readonly #file: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  /** Number of bytes that may still be unpacked from this archive. */
  #left: number

  static async of(opening: Promise<ZipFile>, most: number): Promise<ZipArchive> {
    try {
      const file = await opening
      const entries = new Map<string, Entry>()
      for await (const entry of file.eachEntry()) {
        if (entries.size >= MAX_FILES) throw new ZipError(`the archive has more than ${MAX_FILES} files`)
        if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry)
      }
      return new ZipArchive(file, entries, most)
    } catch (error) {
      throw asZipError(error)
    }
  }

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>, left: number) {
    this.#file = file
    this.#entries = entries
    this.#left = left
  }

  /** Names of the files in the archive, in the archive's order. */
  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Unpacked size in bytes that the archive states for a file; 0 if there is no such file. */
  sizeOf(name: string): number {
    return this.#entries.get(name)?.uncompressedSize ?? 0
  }

  /**
   * Message that says why a file in the archive cannot be unpacked (missing, encrypted, compressed too much); null if nothing in the
   * archive's directory speaks against it.
   */
  problemOf(name: string): string | null {
    const entry = this.#entries.get(name)
    if (entry === undefined) return `the archive has no ${name}`
    if (entry.isEncrypted()) return `${name} in the archive is encrypted`
    const { compressedSize, uncompressedSize } = entry
    if (uncompressedSize <= RATIO_FROM || uncompressedSize <= MAX_RATIO * compressedSize) return null
    return `${name} in the archive is packed to less than 1/${MAX_RATIO} of its size`
  }

  /** The unpacked bytes of a file in the archive as a stream, which ends with an error if there are more bytes than the archive states. */
  async stream(name: string): Promise<Readable> {
    const entry = this.#entries.get(name)
    const problem = this.problemOf(name)
    if (entry === undefined || problem !== null) throw new ZipError(problem ?? '', entry?.isEncrypted())
    try {
      return await this.#file.openReadStreamPromise(entry)
    } catch (error) {
      throw asZipError(error)
    }
  }

  /** The unpacked bytes of a file in the archive; null if there is no such file. */
  async bytes(name: string): Promise<Uint8Array | null> {
    if (!this.has(name)) return null
    this.#left -= this.sizeOf(name)
    if (this.#left < 0) throw new ZipError(`the archive unpacks to more than ${MAX_UNPACKED} bytes`)
    const stream = await this.stream(name)
    try {
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      return Buffer.concat(parts)
    } catch (error) {
      throw asZipError(error)
    }
  }

  /** The text of a file in the archive, from UTF-8, or from UTF-16 with a byte order mark; null if there is no such file. */
  async text(name: string): Promise<string | null> {
    const bytes = await this.bytes(name)
    if (bytes === null) return null
    const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
    const isBig = bytes[0] === 0xfe && bytes[1] === 0xff
    return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes)
  }

  close(): void {
    this.#file.close()
  }
}

function asZipError(error: unknown): ZipError {
  if (error instanceof ZipError) return error
  return new ZipError(`the archive is damaged: ${error instanceof Error ? error.message : String(error)}`)
}
