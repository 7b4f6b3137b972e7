/**
 * Files that the grammar reads with errors (CX-077): what the TypeScript compiler declares is kept where the compiler
 * accepts the file, and of broken files everything outside the error. The sample of installed files is chosen by the
 * hash of their names; `QUERENT_LONG=1` reads them all.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/base/canonical.ts'
import type { Extraction } from '../../src/lenses/context/extract/concept.ts'
import { extractOrThrow, grammarsFor } from '../support/extracted.ts'
import { declarationsIn } from '../support/script-oracle.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const isLong = process.env['QUERENT_LONG'] === '1'
/** One file in so many. */
const SAMPLE = isLong ? 1 : 16
/** Where most of what the grammar does not know is written. */
const HARD =
  /(?:^|\/)(?:zod\/(?:src\/)?v4\/(?:core|classic|mini)\/|vite\/types\/|acorn-walk\/dist\/|knip\/dist\/[^/]+$|assemblyscript\/std\/assembly\/util\/)/
const MAX_CHARACTERS = 1_000_000

async function read(path: string, text: string): Promise<Extraction> {
  return extractOrThrow(await grammarsFor([path]), path, text)
}

/** `<type> <name>` of what the compiler declares and the lens does not; null where the compiler refuses the text. */
async function lost(path: string, text: string): Promise<string[] | null> {
  const declared = declarationsIn(path, text)
  if (declared === null) return null
  const { concepts } = await read(path, text)
  const kept = new Set(concepts.map(({ type, name }) => `${type} ${name}`))
  return [...declared].filter(one => !kept.has(one))
}

describe('TypeScript that the compiler accepts', () => {
  it('loses no declaration in installed packages (CX-077)', async () => {
    const files = readdirSync(MODULES, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && /\.[cm]?ts$/.test(entry.name))
      .map(entry =>
        join(entry.parentPath, entry.name)
          .slice(MODULES.length + 1)
          .replaceAll('\\', '/'),
      )
      .sort()
    const faults: string[] = []
    let read = 0
    for (const file of files) {
      if (!HARD.test(file) && Number.parseInt(sha256(file).slice(0, 6), 16) % SAMPLE !== 0) continue
      const text = readFileSync(join(MODULES, file), 'utf8')
      const missing = text.length > MAX_CHARACTERS ? null : await lost(file, text)
      if (missing !== null) read++
      if (missing !== null && missing.length > 0) faults.push(`${file}: ${missing.slice(0, 5).join(', ')}`)
    }
    expect(faults).toEqual([])
    expect(read).toBeGreaterThan(isLong ? 4_000 : 300)
  })
})
