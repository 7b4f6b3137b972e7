/** ZIP archives, read in place: nothing is unpacked to disk, and what is unpacked to memory has a limit. */
import type { Readable } from 'node:stream'
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from 'yauzl'

/** Bytes that the parts of one document may have together when unpacked. */
const MAX_UNPACKED = 512 * 1024 * 1024
/** Real documents reach some 60; DEFLATE ends at 1,032. */
const MAX_RATIO = 250
/** Bytes of an unpacked file below which its ratio says nothing. */
const RATIO_FROM = 8 * 1024 * 1024
const MAX_FILES = 100_000

/** What keeps an archive from being read; the message says why. */
export class ZipError extends Error {
  override readonly name = 'ZipError'
  readonly isEncrypted: boolean

  constructor(message: string, isEncrypted = false) {
    super(message)
    this.isEncrypted = isEncrypted
  }
}

/** One whose files may be as large as they like, for those who read them bit by bit. `path`: absolute. */
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
  /** Bytes that may still be unpacked. */
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

  /** Of files, in the order of the archive. */
  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Bytes of it unpacked, as the archive says. */
  sizeOf(name: string): number {
    return this.#entries.get(name)?.uncompressedSize ?? 0
  }

  /** What keeps a file from being unpacked, as far as the archive says it. */
  problemOf(name: string): string | null {
    const entry = this.#entries.get(name)
    if (entry === undefined) return `the archive has no ${name}`
    if (entry.isEncrypted()) return `${name} in the archive is encrypted`
    const { compressedSize, uncompressedSize } = entry
    if (uncompressedSize <= RATIO_FROM || uncompressedSize <= MAX_RATIO * compressedSize) return null
    return `${name} in the archive is packed to less than 1/${MAX_RATIO} of its size`
  }

  /** The bytes of a file; the stream ends in an error where there are more than `sizeOf` says. */
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

  /** Null: there is no such file. */
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

  /** UTF-8, or UTF-16 with a byte order mark. Null: there is no such file. */
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
