/**
 * Places the skill and the agent that come with this package where assistants look for them. What somebody has changed
 * since is theirs: it stays, unless force says otherwise.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QuerentError } from '../model/errors.ts'

export interface SkillsRequest {
  /** The project's folder, which gets `.claude/`; made when it is not there. */
  readonly folder: string
  /** What asks this lens; default `collections`: a skill and an agent. `c64`: a command, in English alone. */
  readonly lens?: 'collections' | 'c64' | undefined
  /** Default `es`. */
  readonly lang?: 'es' | 'en' | undefined
  readonly force?: boolean | undefined
}

export interface SkillsReport {
  /** Paths below the folder, with slashes, in order. */
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  /** Somebody changed these: they stay as they are. */
  readonly kept: readonly string[]
}

/** By language. */
const SHIPPED = fileURLToPath(new URL('../lenses/collections/files', import.meta.url))
const SHIPPED_C64 = fileURLToPath(new URL('../lenses/c64/files', import.meta.url))

/** Throws `io_failed` where a file cannot be read or written. */
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

/** As one of the languages was shipped: nobody has changed it, so another may take its place. */
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
