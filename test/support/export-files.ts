/** Files of an export for the readers of conversations: from the disk, and from texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExportFile } from '../../src/lenses/conversations/reading/reader.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/conversations', import.meta.url))

/** A folder of `test/fixtures/conversations`, or one file of it; `pieceSize`: bytes that come at a time. */
export function fixtureFiles(name: string, pieceSize = 64 * 1024): readonly ExportFile[] {
  const root = join(FIXTURES, name)
  const paths = isFile(root) ? [root] : filesBelow(root)
  const from = isFile(root) ? join(root, '..') : root
  return paths.map(path => fileOf(relative(from, path).split(sep).join('/'), readFileSync(path), pieceSize))
}

export function fileOf(path: string, content: string | Uint8Array, pieceSize = 64 * 1024): ExportFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return {
    path,
    *bytes() {
      for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize)
    },
  }
}

function isFile(path: string): boolean {
  return /\.[a-z]+$/.test(path)
}

function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}
