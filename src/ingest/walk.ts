/** Finds the files below a folder, in an order that depends on their names alone. Symbolic links are not followed. */
import { type Dirent, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { sha256 } from '../base/canonical.ts'
import { compareText } from '../base/compare.ts'
import type { Turns } from '../base/turns.ts'
import { extensionOf, isMedia } from './file-types.ts'
import { type SeenFile, slashed } from './known-files.ts'

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
  | 'encrypted'
  | 'no_text' // a document of pictures alone
  | 'empty'

/** Paths are absolute. */
export type Found =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'skipped'; readonly path: string; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly path: string; readonly error: unknown }

/**
 * A folder that cannot be read is reported and passed over. `root` is an absolute path without symbolic links. `below`: a
 * path inside of it that alone is looked at, and found as it would be when all is; absent or gone: nothing is.
 */
export async function* walk(root: string, signal: AbortSignal, below: string = root): AsyncGenerator<Found> {
  const open: Listed[] = []
  const first = await descend(root, below)
  if (first === null) return
  if ('kind' in first) yield first
  else open.push(first)
  for (let next = open.pop(); next !== undefined && !signal.aborted; next = open.pop()) {
    const { folder, rules } = next
    const entries = await (next.listing ?? list(folder))
    // Read while the files of this one are looked at.
    const after = open.at(-1)
    if (after !== undefined) after.listing ??= list(after.folder)
    if (!Array.isArray(entries)) {
      yield { kind: 'failed', path: folder, error: entries }
      continue
    }
    const folders: string[] = []
    const start = startOfPaths(folder)
    for (const entry of entries) {
      const path = `${start}${entry.name}`
      const found = classify(path, entry, rules)
      if (found === 'folder') folders.push(path)
      else if (!isUnreported(entry.name, found)) yield found
    }
    for (const inner of folders.reverse()) open.push({ folder: inner, rules: rules.inside(inner) })
  }
}

interface Listed {
  readonly folder: string
  readonly rules: IgnoreRules
  /** Never rejects. */
  listing?: ReturnType<typeof list>
}

/** Along the folders from the root down: the rules that hold at the end, or what is found there or on the way. */
async function descend(
  root: string,
  below: string,
): Promise<{ readonly folder: string; readonly rules: IgnoreRules } | Found | null> {
  let at = { folder: root, rules: IgnoreRules.forRoot(root) }
  for (const name of relative(root, below)
    .split(sep)
    .filter(part => part !== '')) {
    const path = join(at.folder, name)
    let entry: Kind
    try {
      entry = await lstat(path)
    } catch (error) {
      const isGone = /^(?:ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')
      return isGone ? null : { kind: 'failed', path, error }
    }
    const found = classify(path, { name, wellNamed: true, entry }, at.rules)
    if (found !== 'folder') return found.kind === 'file' && path !== below ? null : found
    at = { folder: path, rules: at.rules.inside(path) }
  }
  return at
}

type Kind = Pick<Dirent<Buffer>, 'isDirectory' | 'isSymbolicLink' | 'isFile'>

interface Named {
  readonly name: string
  readonly wellNamed: boolean
  readonly entry: Kind
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
  // What is not UTF-8 is read as this character, which a name may also hold.
  const wellNamed = !name.includes('\ufffd') || Buffer.from(name, 'utf8').equals(entry.name)
  return { name, wellNamed, entry }
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

/** Unless a rule of the user takes the folder back. */
function isUnreported(name: string, found: Found): boolean {
  return found.kind === 'skipped' && found.reason === 'excluded' && UNREPORTED.has(name)
}

/** Size and time of a file as it is now; null: it is not there, or cannot be looked at. */
export function seenNow(path: string): SeenFile | null {
  try {
    const { size, mtimeMs } = lstatSync(path)
    return { size, modifiedAt: Math.trunc(mtimeMs) }
  } catch {
    return null
  }
}

/** Not sure is taken for yes. */
export function exists(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** As `walk` finds one file that was named. */
export function* fileAt(path: string): Generator<Found> {
  if (exists(path)) yield { kind: 'file', path }
}

/**
 * One text for all files at or below a path, by names, sizes and times: another one where any of them changed (QE-012). `folder`: whose rules say what is left out; both absolute. 5,000 files
 * take some 30 ms, none is opened. Rejects with what `turns` end it with.
 */
export async function markOf(
  { folder, path }: { readonly folder: string; readonly path: string },
  { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal },
): Promise<string> {
  const lines: string[] = []
  for await (const found of walk(folder, signal, path)) {
    await turns.pauseIfDue()
    const seen = found.kind === 'file' ? seenNow(found.path) : null
    if (seen !== null) lines.push(`${found.path}\0${seen.size} ${seen.modifiedAt}`)
  }
  return sha256(lines.join('\n'))
}

/** Folders of tools, which nobody expects in a report of what was left out. */
const UNREPORTED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.querent'])

/** Other people's code, stores and generated text: nobody asks about them. */
const EXCLUDED = `
.git
.hg
.svn
.querent
node_modules
__pycache__
*.min.js
*.min.css
*.map
package-lock.json
npm-shrinkwrap.json
yarn.lock
pnpm-lock.yaml
Cargo.lock
composer.lock
Gemfile.lock
poetry.lock
uv.lock
go.sum
`

const RULE_FILES = ['.gitignore', '.querentignore']
/** A longer rule file is no rule file. */
const MAX_RULES = 256 * 1024

type Verdict = 'excluded' | 'ignored' | null

interface Layer {
  /** Absolute path of the folder that its patterns are relative to, with a separator at its end. */
  readonly start: string
  readonly rules: Ignore
  readonly verdict: Exclude<Verdict, null>
}

/**
 * Which paths are left out in one folder: rules of our own, then those of `.gitignore` and `.querentignore` files, the deeper file and
 * in one folder `.querentignore` deciding. A `!rule` takes back what a rule above it left out, ours included.
 */
class IgnoreRules {
  /** Outermost first. */
  readonly #layers: readonly Layer[]

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /** Rules for a folder that is added: ours, those of the Git repository around it, its own. */
  static forRoot(root: string): IgnoreRules {
    const own = new IgnoreRules([layer(root, EXCLUDED, 'excluded')])
    const above = foldersOfRepository(root).reduce((rules, folder) => rules.inside(folder), own)
    // Who names an ignored folder means it: then only the rules below it count.
    const rules = above.verdict(root, true) === null ? above : own
    return rules.inside(root)
  }

  /** Rules for a folder further down: these and what its rule files say. */
  inside(folder: string): IgnoreRules {
    const text = RULE_FILES.map(name => readRules(join(folder, name))).join('\n')
    return text.trim() === '' ? this : new IgnoreRules([...this.#layers, layer(folder, text, 'ignored')])
  }

  /** Null: not left out. `path` is absolute. */
  verdict(path: string, isFolder: boolean): Verdict {
    for (let at = this.#layers.length - 1; at >= 0; at--) {
      const { start, rules, verdict } = this.#layers[at] as Layer
      if (!path.startsWith(start)) continue
      const inside = slashed(path.slice(start.length))
      const { ignored, unignored } = rules.test(isFolder ? `${inside}/` : inside)
      if (ignored) return verdict
      if (unignored) return null
    }
    return null
  }
}

function layer(folder: string, text: string, verdict: Layer['verdict']): Layer {
  return {
    start: startOfPaths(folder),
    verdict,
    rules: ignore({ ignorecase: false, allowRelativePaths: true }).add(text),
  }
}

/** What the absolute paths of everything in a folder start with. */
function startOfPaths(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep
}

/** Folders from the repository's top down to the one above `root`; none outside a repository. */
function foldersOfRepository(root: string): readonly string[] {
  const folders: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) folders.unshift(folder)
    if (existsSync(join(folder, '.git'))) return folders
    if (dirname(folder) === folder) return []
  }
}

function readRules(path: string): string {
  try {
    return statSync(path).size > MAX_RULES ? '' : readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch {
    return ''
  }
}
