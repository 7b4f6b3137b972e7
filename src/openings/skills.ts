/**
 * Installs this package's skill and agent for assistants in a project's folder, where assistants look for them. Files that a user has
 * changed are kept, unless `force` is set.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QuerentError } from '../model/errors.ts'

export interface SkillsRequest {
  /** Folder of the project, in which `.claude/` is created; the folder itself is created when it does not exist. */
  readonly folder: string
  /** Lens that the installed files query. `collections` (default): a skill and an agent; `c64`: a command, in English only. */
  readonly lens?: 'collections' | 'c64' | undefined
  /** Language of the installed files; default `es`. */
  readonly lang?: 'es' | 'en' | undefined
  readonly force?: boolean | undefined
}

export interface SkillsReport {
  /** Paths of the files that were written, relative to the project's folder, with slashes, sorted. */
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  /** Paths of the files that were not replaced because a user had changed them. */
  readonly kept: readonly string[]
}

/** Folder of this package's files to be installed, with one subfolder for each language. */
const SHIPPED = fileURLToPath(new URL('../lenses/collections/files', import.meta.url))
const SHIPPED_C64 = fileURLToPath(new URL('../lenses/c64/files', import.meta.url))

/** Installs the files for a lens in a project's folder. Throws `io_failed` where a file cannot be read or written. */
export function installSkills({ folder, lens, lang = 'es', force = false }: SkillsRequest): SkillsReport {
  const from = lens === 'c64' ? SHIPPED_C64 : join(SHIPPED, lang)
  const report = { written: [] as string[], unchanged: [] as string[], kept: [] as string[] }
  for (const path of filesBelow(from)) {
    const text = readFileSync(join(from, path), 'utf8')
    const target = join(resolve(folder), path)
    const there = readOrNull(target)
    if (there === text) report.unchanged.push(path)
    else if (there !== null && !force && !isOurs(there, path)) report.kept.push(path)
    else {
      write(target, text)
      report.written.push(path)
    }
  }
  return report
}

/** Whether the text equals the file that ships under this path in any language: then no user has changed it, and it may be replaced. */
function isOurs(text: string, path: string): boolean {
  return readdirSync(SHIPPED).some(lang => readOrNull(join(SHIPPED, lang, path)) === text)
}

function filesBelow(folder: string): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = paths.filter(path => statSync(join(folder, path)).isFile())
  return files.map(path => path.replaceAll('\\', '/')).sort()
}

function readOrNull(path: string): string | null {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  } catch (error) {
    throw new QuerentError('io_failed', `cannot read ${path}: ${String(error)}`, { path }, error)
  }
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  } catch (error) {
    throw new QuerentError('io_failed', `cannot write ${path}: ${String(error)}`, { path }, error)
  }
}
