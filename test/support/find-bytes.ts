/** Whether bytes are to be found in any file of a folder: what deleting is measured by. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface FindBytes {
  readonly folders: readonly string[]
  /** By name; in hexadecimal. */
  readonly needles: Readonly<Record<string, string>>
}

export interface BytesFound {
  /** Within its folder. */
  readonly file: string
  /** Name of the needle. */
  readonly what: string
}

const CHILD = fileURLToPath(new URL('find-bytes-child.ts', import.meta.url))

export function findBytes(folders: readonly string[], needles: ReadonlyMap<string, Uint8Array>): readonly BytesFound[] {
  const hex = [...needles].map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')])
  const input: FindBytes = { folders, needles: Object.fromEntries(hex) as Record<string, string> }
  const output = execFileSync(process.execPath, [CHILD], { input: JSON.stringify(input), maxBuffer: 1 << 28 })
  return JSON.parse(output.toString()) as BytesFound[]
}

/**
 * A word that occurs nowhere else. Its beginning is searched for: stemming may remove some of the rest.
 */
export function markOf(random: () => number): string {
  const letter = () => String.fromCharCode(97 + Math.floor(random() * 26))
  return `zq${Array.from({ length: 12 }, letter).join('')}ox`
}

/** As it is written, and as UTF-16 has it. */
export function textNeedles(mark: string): ReadonlyMap<string, Uint8Array> {
  return new Map([
    [mark, utf8Needle(mark)],
    [`${mark} (UTF-16)`, Buffer.from(stemOf(mark), 'utf16le')],
  ])
}

export function utf8Needle(mark: string): Uint8Array {
  return Buffer.from(stemOf(mark), 'utf8')
}

function stemOf(mark: string): string {
  return mark.slice(0, 11)
}

/** The first components as the store has them, f32 little-endian. */
export function vectorNeedle(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.slice(0, 8).buffer)
}
