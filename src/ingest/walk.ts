/**
 * Finds the files below a folder that no ignore rule excludes, in an order that depends on file names only. Symbolic links are not
 * followed.
 */
import { type Dirent, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { sha256 } from '../base/canonical.ts'
import { compareText } from '../base/compare.ts'
import type { Turns } from '../base/turns.ts'
import { extensionOf, isMedia } from './file-types.ts'
import { type SeenFile, slashed } from './known-files.ts'

/** Reason why a file or folder is not added. */
export type SkipReason =
  | 'excluded' // left out by built-in rules
  | 'ignored' // left out by a rule file of the user
  | 'symlink'
  | 'special' // not a regular file: a socket, pipe or device
  | 'bad_name' // the name is not UTF-8
  | 'media'
  | 'too_large'
  | 'binary'
  | 'encrypted'
  | 'no_text' // a document that contains only pictures, without text
  | 'empty'

/** A file found below a folder, one that was left out, or a file or folder that could not be read. Paths are absolute. */
export type Found =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'skipped'; readonly path: string; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly path: string; readonly error: unknown }

/**
 * Finds the files below `root`, an absolute path without symbolic links. A folder that cannot be read is reported, and the search
 * continues. `below`: searches only at and below this path, with the ignore rules of all folders from `root` on; finds nothing if the path
 * does not exist.
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
    // The listing of the next folder is started now, so that it is read while the files of this folder are processed.
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
  /** Listing of the folder, if it was started in advance. The promise never rejects: it resolves to the error. */
  listing?: ReturnType<typeof list>
}

/**
 * Follows the folders from `root` down to `below`. Returns the last folder with its ignore rules. If `below` is a file, or if `below` or a
 * folder on the way is left out or cannot be read, returns a description of that instead. Null: the path does not exist.
 */
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

/** The files and folders in a folder, sorted by name; or the error if the folder cannot be read. */
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
  // Bytes that are not UTF-8 are decoded as U+FFFD, but a valid name may contain that character too, so the bytes are compared.
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

/** Whether an excluded folder is not even mentioned in reports, because it belongs to a tool, such as `.git`. */
function isUnreported(name: string, found: Found): boolean {
  return found.kind === 'skipped' && found.reason === 'excluded' && UNREPORTED.has(name)
}

/** Size and modification time that a file has now; null if it does not exist or cannot be examined. */
export function seenNow(path: string): SeenFile | null {
  try {
    const { size, mtimeMs } = lstatSync(path)
    return { size, modifiedAt: Math.trunc(mtimeMs) }
  } catch {
    return null
  }
}

/** Whether a path exists; true if that cannot be determined, so that nothing is deleted by mistake. */
export function exists(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/**
 * A single file that the user named, as a sequence of one item in the form in which `walk` gives files; empty if it does not exist. Ignore
 * rules do not apply.
 */
export function* fileAt(path: string): Generator<Found> {
  if (exists(path)) yield { kind: 'file', path }
}

/**
 * A text made from the names, sizes and modification times of all files at or below `path`; it differs whenever one of the files has
 * changed (QE-012). `folder`: where ignore rules begin to apply. Both are absolute. No file is opened; 5,000 files take about 30 ms.
 * `turns`: decides when the work pauses, and may stop it (then it rejects).
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

/** Names of folders of tools, which nobody expects in a report of left-out files. */
const UNREPORTED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.querent'])

/**
 * Built-in ignore rules in the syntax of `.gitignore`: dependencies, Querent's own stores and generated files, which are not worth
 * searching.
 */
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
/** Maximum size of a file of ignore rules in bytes; a longer file is ignored. */
const MAX_RULES = 256 * 1024

type Verdict = 'excluded' | 'ignored' | null

interface Layer {
  /** Absolute path of the folder to which the patterns are relative, with a separator at its end. */
  readonly start: string
  readonly rules: Ignore
  readonly verdict: Exclude<Verdict, null>
}

/**
 * Decides which files and folders in a folder are left out: by built-in rules, then by the rules in `.gitignore` and `.querentignore`
 * files. Rules of a deeper folder take precedence, and within one folder those of `.querentignore`. A rule `!pattern` includes again what
 * an earlier rule, even a built-in one, excluded.
 */
class IgnoreRules {
  /** Sets of ignore rules, from the outermost folder to the innermost. */
  readonly #layers: readonly Layer[]

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /**
   * Ignore rules for an added folder: the built-in rules, those of the Git repository around the folder, and those in the folder itself.
   */
  static forRoot(root: string): IgnoreRules {
    const own = new IgnoreRules([layer(root, EXCLUDED, 'excluded')])
    const above = foldersOfRepository(root).reduce((rules, folder) => rules.inside(folder), own)
    // A user who names a folder that the repository's rules exclude wants it: then only the built-in rules and those inside the folder
    // apply.
    const rules = above.verdict(root, true) === null ? above : own
    return rules.inside(root)
  }

  /** Ignore rules for a subfolder: these rules together with those of the rule files in the subfolder. */
  inside(folder: string): IgnoreRules {
    const text = RULE_FILES.map(name => readRules(join(folder, name))).join('\n')
    return text.trim() === '' ? this : new IgnoreRules([...this.#layers, layer(folder, text, 'ignored')])
  }

  /** Which kind of rule excludes a path: a built-in one or one of the user; null if none does. `path`: absolute. */
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

/** The text with which the absolute paths of everything in the folder begin: its path with a separator at the end. */
function startOfPaths(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep
}

/** Folders from the top of the Git repository that contains `root` down to the parent of `root`; none if `root` is not in a repository. */
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
