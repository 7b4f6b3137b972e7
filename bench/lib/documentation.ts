/**
 * Questions in everyday words over long pages of documentation: the HTML of Debian's package `sqlite3-doc` (public domain).
 * Each question names the page and a string of the passage that answers it; white space counts as one blank. The questions were
 * written before anything was measured with them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import set from '../data/documentation-questions.json' with { type: 'json' }

export interface DocumentationQuestion {
  /** File name of the page that answers, for example `wal.html`. */
  readonly page: string
  readonly text: string
  /** The page contains it, white space folded. */
  readonly answer: string
}

const CACHE = fileURLToPath(new URL('../out/documentation/', import.meta.url))

export const documentationPages: readonly string[] = Object.keys(set.documents)

export const documentationQuestions: readonly DocumentationQuestion[] = Object.entries(set.documents).flatMap(
  ([page, questions]) => questions.map(({ question, answer }) => ({ page, text: question, answer })),
)

/**
 * The folder with the pages: the installed package, or one that apt-get downloads into bench/out. Undefined where neither is to
 * be had, or where the package is another version, whose pages may lack the answers.
 */
export function documentationFolder(): string | undefined {
  const unpacked = join(CACHE, set.folder)
  if (existsSync(unpacked)) return unpacked
  try {
    mkdirSync(CACHE, { recursive: true })
    execFileSync('apt-get', ['download', `${set.package}=${set.version}`], { cwd: CACHE, stdio: 'ignore' })
    const [archive] = readdirSync(CACHE).filter(name => name.endsWith('.deb'))
    if (archive === undefined) return undefined
    execFileSync('dpkg', ['-x', archive, '.'], { cwd: CACHE, stdio: 'ignore' })
    return unpacked
  } catch {
    return undefined
  }
}
