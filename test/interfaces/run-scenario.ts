/** Takes a list of steps through every interface, each on its own copy of one prepared store. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { INTERFACES, openHere } from './interfaces.ts'
import type { Outcome, Step } from './scenario.ts'

export interface Setting {
  /** A folder for the stores, one for each interface. */
  readonly root: string
  readonly now: string
  /** `local` is the built-in model. */
  readonly embedder: 'none' | 'local'
  /** Whose tools MCP offers. */
  readonly lens?: string
  /** What the store, and the folder it is in, hold before the first step. */
  readonly prepare?: (engine: Engine, folder: string) => unknown
}

/** Outcomes by the names of their steps. */
export type Outcomes = ReadonlyMap<string, Outcome>

/** By the names of interfaces. */
export async function runEverywhere(steps: readonly Step[], setting: Setting): Promise<ReadonlyMap<string, Outcomes>> {
  const prepared = folderOf('prepared', setting.root)
  mkdirSync(join(prepared, '.querent'), { recursive: true })
  {
    await using engine = await openHere({ ...setting, home: join(prepared, '.querent') })
    await setting.prepare?.(engine, prepared)
  }
  const runs = Object.keys(INTERFACES).map(async via => {
    const folder = folderOf(via, setting.root)
    cpSync(prepared, folder, { recursive: true, preserveTimestamps: true })
    return [via, await runThrough(via, steps, join(folder, '.querent'), setting)] as const
  })
  return new Map(await Promise.all(runs))
}

/** Names are all as long, for places count in what fits into an answer. */
function folderOf(via: string, root: string): string {
  return join(root, `via-${['prepared', ...Object.keys(INTERFACES)].indexOf(via)}`)
}

async function runThrough(via: string, steps: readonly Step[], home: string, setting: Setting): Promise<Outcomes> {
  const open = INTERFACES[via]
  if (open === undefined) throw new Error(`no interface ${via}`)
  await using opened = await open({ ...setting, home })
  const done = new Map<string, Outcome>()
  const answers = new Map<string, unknown>()
  for (const step of steps) {
    if (done.has(step.name)) throw new Error(`two steps are called ${step.name}`)
    const input = step.inputFrom === undefined ? step.input : step.inputFrom(answers)
    const outcome = await opened.call(step.operation, input, step.viewer)
    done.set(step.name, outcome)
    answers.set(step.name, 'result' in outcome ? outcome.result : undefined)
  }
  return done
}
/** What a measured time, or what a log holds at this moment, is called. */
const MEASURED = new Set(
  [
    'ms',
    'read_ms',
    'durationMs',
    'duration_ms',
    'query_time_ms',
    'total_time_ms',
    'files_per_second',
    'elapsed_ms',
    'p50_ms',
    'p99_ms',
  ].concat([...['bytes', 'log_bytes']]),
)
/** Made at random for each request. */
const ITS_OWN = new Set(['request_id', 'query_id'])

/** An interface points to an operation in its own words. */
const SUGGESTION =
  /suggestHashtags|querent chroma suggest|POST \/v1\/chroma\/suggest-hashtags|the tool chroma_suggest_hashtags/

const CURSORS = new Set(['cursor', 'next_cursor', 'resume_token'])

/** Without what may differ between copies of one store; `root` is the folder that all are in. */
export function comparable(outcome: Outcome | undefined, root: string): unknown {
  const folders = Object.keys(INTERFACES).map(via => folderOf(via, root))
  return JSON.parse(JSON.stringify(outcome ?? null), (key, value) => {
    if (MEASURED.has(key)) return 'measured'
    if (ITS_OWN.has(key)) return 'its own'
    // Sealed again for every answer.
    if (CURSORS.has(key)) return value === null ? null : 'a cursor'
    // How far the log is folded back, and what is still to erase, is a matter of the moment.
    if (key === 'to_erase') return 'now or later'
    if (typeof value === 'string' && value.includes(root))
      return folders.reduce((text, folder) => text.replaceAll(folder, 'its folder'), value)
    if (key === 'message' && typeof value === 'string') return value.replace(SUGGESTION, 'it')
    // Background work is reported by the process that runs it.
    if (key === 'findings') return value.filter(({ check }: { check: string }) => !check.startsWith('job '))
    return value
  })
}

/** Besides: without the ids that are made at random (UUIDs). */
export function withoutNewIds(outcome: unknown): unknown {
  return JSON.parse(JSON.stringify(outcome).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'a new id'))
}
