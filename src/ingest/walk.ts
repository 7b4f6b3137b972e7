/** Finds the files below a folder, in an order that depends on their names alone. Symbolic links are not followed. */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareText } from '../base/compare.ts'
import { extensionOf, isMedia } from './file-types.ts'
import { IgnoreRules } from './ignore-rules.ts'

/** Why a file was left out. */
export type SkipReason =
  | 'excluded' // by rules of our own
  | 'ignored' // by a rule file
  | 'symlink'
  | 'special' // a socket, a pipe, a device
  | 'bad_name' // not UTF-8
  | 'media'
  | 'too_large'
  | 'binary'
  | 'empty'

/** Paths are absolute. */
export type Found =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'skipped'; readonly path: string; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly path: string; readonly error: unknown }

/** A folder that cannot be read is told of and passed over. `root` is an absolute path without symbolic links. */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<Found> {
  const open: { readonly folder: string; readonly rules: IgnoreRules }[] = []
  open.push({ folder: root, rules: IgnoreRules.forRoot(root) })
  for (let next = open.pop(); next !== undefined && !signal.aborted; next = open.pop()) {
    const { folder, rules } = next
    const entries = await list(folder)
    if (!Array.isArray(entries)) {
      yield { kind: 'failed', path: folder, error: entries }
      continue
    }
    const folders: string[] = []
    for (const entry of entries) {
      const found = classify(join(folder, entry.name), entry, rules)
      if (found === 'folder') folders.push(join(folder, entry.name))
      else yield found
    }
    for (const inner of folders.reverse()) open.push({ folder: inner, rules: rules.inside(inner) })
  }
}

interface Named {
  readonly name: string
  readonly wellNamed: boolean
  readonly entry: Dirent<Buffer>
}

/** Sorted by name, or the error that kept it from being read. */
async function list(folder: string): Promise<readonly Named[] | Error> {
  try {
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
    return entries.map(named).sort((a, b) => compareText(a.name, b.name))
  } catch (error) {
    return error as Error
  }
}

function named(entry: Dirent<Buffer>): Named {
  const name = entry.name.toString('utf8')
  return { name, wellNamed: Buffer.from(name, 'utf8').equals(entry.name), entry }
}

function classify(path: string, { name, wellNamed, entry }: Named, rules: IgnoreRules): Found | 'folder' {
  const skipped = (reason: SkipReason): Found => ({ kind: 'skipped', path, reason })
  if (!wellNamed) return skipped('bad_name')
  const verdict = rules.verdict(path, entry.isDirectory())
  if (verdict !== null) return skipped(verdict)
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return skipped('symlink')
  if (!entry.isFile()) return skipped('special')
  return isMedia(extensionOf(name)) ? skipped('media') : { kind: 'file', path }
}
