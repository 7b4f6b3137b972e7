/**
 * Keeps added files up to date (QE-012): finds files that have changed since they were read, and reads them again. An engine that watches
 * files checks them every few seconds, in one process at a time; if no engine watches the store's files, they are checked when a query,
 * `status` or `sync` needs it.
 */
import { sep } from 'node:path'
import { must } from '../base/assert.ts'
import type { Clock } from '../base/clock.ts'
import { Turns } from '../base/turns.ts'
import type { PathChanges, TreeChanges } from '../ingest/changed-files.ts'
import type { IngestReport } from '../ingest/ingest-report.ts'
import type { CodePaths, LensHost } from '../lenses/lens.ts'
import type { LensRegistry } from '../lenses/registry.ts'
import type { SyncRequest } from '../model/entry-input.ts'
import { invalidArgument } from '../model/errors.ts'
import type { CallContext } from '../model/operation.ts'
import type { Note } from '../model/page.ts'
import { OWNER } from '../model/partition.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import { ADDED_PATHS, INDEXED_TREES } from '../store/core-tables.ts'
import type { Store } from '../store/store.ts'
import type { BackgroundJob } from './background/background.ts'
import type { AddedPathState } from './engine.ts'
import type { IndexSet } from './index-set.ts'

interface Needed {
  readonly store: Store
  readonly clock: Clock
  readonly registry: LensRegistry
  readonly indexes: IndexSet
}

type Caller = Pick<CallContext, 'signal' | 'report'>

/**
 * Largest amount of changed data (files, and bytes in them) that is read again while a query waits; reading this much takes some tens of
 * milliseconds.
 */
const MAX_QUICK = { files: 10, bytes: 128 * 1024 }

/**
 * Limits on how often a background job checks added files for changes: at most once every `LOOK_EVERY_MS` milliseconds, and so that
 * checking takes at most the share `LOOK_SHARE` of its time.
 */
const LOOK_EVERY_MS = 1_000
const LOOK_SHARE = 1 / 20
/**
 * Pause in milliseconds before the background job tries again to read source code after a failure: `FIRST_PAUSE_MS`, doubled with each
 * further failure, at most `MAX_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 4_000
const MAX_PAUSE_MS = 300_000

export class AddedFiles {
  /** Whether this engine watches added files: checks them for changes every few seconds in the background. */
  readonly isWatched: boolean
  readonly #parts: Needed
  /** Changes of added files that the last check found and that have not been read into the store yet. */
  #waiting: Changes = NO_CHANGES
  #hostOf: ((lens: string) => LensHost) | null = null
  /** Error messages by absolute path: files and source code whose last reading in this process failed. */
  readonly #problems = new Map<string, string>()
  /**
   * Source code whose reading failed, by path: number of failures since the last success, and the time before which it is not tried again
   * (on the clock of `performance.now`).
   */
  readonly #pauses = new Map<string, { readonly failures: number; readonly until: number }>()

  constructor(parts: Needed, isWatched: boolean) {
    this.#parts = parts
    this.isWatched = isWatched
  }

  /**
   * Sets the function that returns the host of a lens. A lens is a query module of the engine; its host is the object through which it uses
   * the engine, here to read source code.
   */
  lendHosts(hostOf: (lens: string) => LensHost): void {
    this.#hostOf = hostOf
  }

  /** Checks the files below each added path, and source code that a lens has read, for changes since they were last read. */
  async look({ signal }: Caller): Promise<Changes> {
    const { store } = this.#parts
    const isAny = [ADDED_PATHS, INDEXED_TREES].some(table => {
      return store.table(table).scan({ holder: OWNER }, { limit: 1 }).length > 0
    })
    if (!isAny) {
      this.#waiting = NO_CHANGES
      return NO_CHANGES
    }
    const { changedFiles, changedTrees } = await import('../ingest/changed-files.ts')
    const looking = { turns: turnsUntil(signal), signal }
    const paths = await changedFiles(store, OWNER, looking)
    const trees = await changedTrees(store, OWNER, looking)
    this.#waiting = { paths, trees }
    return this.#waiting
  }

  /**
   * Notes that are attached to an answer for the local owner: added files that are missing, or that have changed and have not been read
   * again yet. Other viewers get no notes.
   */
  notesFor(viewer: Viewer): readonly Note[] {
    if (!isOwner(viewer)) return []
    const missing = [...this.#waiting.paths, ...this.#waiting.trees].filter(({ isMissing }) => isMissing)
    const notes = missing.map(({ path }) => ({
      ...{ code: 'path_missing', message: `${path} was added and is now missing; its entries are kept.` },
    }))
    return [...notes, ...this.#changedNotes()]
  }

  #changedNotes(): readonly Note[] {
    const { paths, trees } = this.#waiting
    const count = countOf(paths)
    const changed = trees.filter(({ isChanged }) => isChanged).map(({ path }) => path)
    if (count + changed.length === 0) return []
    const files =
      count === 1 ? ['1 file has changed since it was read'] : [`${count} files have changed since they were read`]
    const code = changed.length === 0 ? [] : [`code in ${changed.join(', ')} has changed since it was read`]
    const what = [...(count === 0 ? [] : files), ...code].join('; ')
    return [{ code: 'files_changed', message: `${what}; run \`querent sync\`.` }]
  }

  /** Reads the changed files again and updates their entries. Null: nothing changed. Rejects with the errors of adding files. */
  async read({ paths, trees }: Changes, { signal, report }: Caller): Promise<IngestReport | null> {
    const { store, clock, registry } = this.#parts
    const changed = paths.filter(path => countOf([path]) > 0)
    const errors = await this.#readTrees(trees, signal)
    if (changed.length === 0) return errors.length === 0 ? null : { ...EMPTY, errors }
    const { ingest } = await import('../ingest/ingest.ts')
    const only = new Set(changed.flatMap(path => [...path.changed, ...path.added, ...path.deleted]))
    const ingestersOf = (name: string) => registry.must(name).ingesters ?? []
    const made = await ingest(
      store,
      { paths: changed.map(({ path }) => path), only },
      { viewer: LOCAL_OWNER, now: clock.now(), signal, report, ingestersOf },
    )
    for (const path of only) this.#problems.delete(path)
    for (const { path, message } of made.errors) this.#problems.set(path, message)
    this.#waiting = { ...this.#waiting, paths: this.#waiting.paths.filter(one => !changed.includes(one)) }
    return { ...made, errors: [...errors, ...made.errors] }
  }

  /**
   * Reads changed source code again, with one call for each lens whose code has changed. If the call for one lens fails, the failure is
   * reported and the code of the other lenses is still read.
   */
  async #readTrees(trees: readonly TreeChanges[], signal: AbortSignal): Promise<IngestReport['errors']> {
    const errors: { path: string; message: string }[] = []
    const changed = trees.filter(({ isChanged }) => isChanged)
    for (const [lens, of] of Map.groupBy(changed, tree => tree.lens)) {
      const paths = of.map(({ path }) => path)
      try {
        await this.#codeOf(lens)?.({ paths, forget: false }, signal)
        this.#waiting = { ...this.#waiting, trees: this.#waiting.trees.filter(tree => !of.includes(tree)) }
        for (const path of paths) this.#worked(path)
      } catch (error) {
        if (signal.aborted) throw error
        const message = error instanceof Error ? error.message : String(error)
        for (const path of paths) this.#failed(path, message)
        errors.push(...paths.map(path => ({ path, message })))
      }
    }
    return errors
  }

  #codeOf(lens: string): ((request: CodePaths, signal: AbortSignal) => Promise<number>) | undefined {
    const { readCode } = this.#parts.registry.must(lens)
    return readCode && ((request, signal) => readCode(must(this.#hostOf, 'hosts of lenses')(lens), request, signal))
  }

  #worked(path: string): void {
    this.#problems.delete(path)
    this.#pauses.delete(path)
  }

  #failed(path: string, message: string): void {
    const failures = (this.#pauses.get(path)?.failures ?? 0) + 1
    this.#problems.set(path, message)
    const until = performance.now() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
    this.#pauses.set(path, { failures, until })
  }

  /**
   * Reads changed files again before a query if there are few of them; otherwise leaves them for later, and a note on the answer mentions
   * them. Never rejects: after a failure the query is answered from what the store holds.
   */
  async readQuickly(caller: Caller): Promise<IngestReport | null> {
    try {
      const { paths } = await this.look(caller)
      const files = paths.reduce((sum, { changed, added }) => sum + changed.length + added.length, 0)
      const bytes = paths.reduce((sum, path) => sum + path.bytes, 0)
      const isQuick = files <= MAX_QUICK.files && bytes <= MAX_QUICK.bytes
      return isQuick ? await this.read({ paths, trees: [] }, caller) : null
    } catch {
      return null
    }
  }

  /**
   * The `sync` operation: deletes the entries made from the paths in `forget`, and reads changed files again below the other added paths,
   * or only below those named. Throws `invalid_argument` for a path that was not added.
   */
  async sync({ paths: names, forget = [], dry_run: isDry = false }: SyncRequest, caller: Caller): Promise<Synced> {
    const all = await this.look(caller)
    const added = [...all.paths, ...all.trees]
    for (const [at, name] of forget.entries()) requireAdded(added, name, `forget.${at}`)
    for (const [at, name] of (names ?? []).entries()) requireAdded(added, name, `paths.${at}`)
    const isMeant = ({ path }: { readonly path: string }) => (names?.includes(path) ?? true) && !forget.includes(path)
    const changes = { paths: all.paths.filter(isMeant), trees: all.trees.filter(isMeant) }
    if (isDry) return { changes, report: EMPTY }
    const { forgetPaths } = await import('../ingest/added-paths.ts')
    const documents = forget.filter(path => all.paths.some(one => one.path === path))
    let deleted = await forgetPaths(this.#parts.store, documents, OWNER, this.#parts.clock.now())
    const code = all.trees.filter(({ path }) => forget.includes(path))
    for (const { lens, path } of code) {
      deleted += (await this.#codeOf(lens)?.({ paths: [path], forget: true }, caller.signal)) ?? 0
    }
    for (const path of forget) this.#worked(path)
    const report = (await this.read(changes, caller)) ?? EMPTY
    return { changes, report: { ...report, deleted: report.deleted + deleted } }
  }

  /** The background job that checks added files for changes and reads changed files again; it runs until the engine is closed. */
  job(): BackgroundJob {
    let everyMs = LOOK_EVERY_MS
    return {
      name: 'engine.files',
      get everyMs() {
        return everyMs
      },
      run: async (_now, signal, report) => {
        const begun = performance.now()
        const changes = await this.look({ signal })
        const looked = performance.now()
        const isDue = ({ path }: TreeChanges) => (this.#pauses.get(path)?.until ?? 0) <= looked
        const made = await this.read({ ...changes, trees: changes.trees.filter(isDue) }, { signal, report })
        // The next check comes no sooner than reading took, so that a folder that changes all the time is not read all the time.
        everyMs = Math.max(LOOK_EVERY_MS, (looked - begun) / LOOK_SHARE, performance.now() - looked)
        if (made !== null) await new Turns().run(this.#parts.indexes.keepUp('words'))
      },
    }
  }

  /**
   * The added paths, each with its number of changed, added and deleted files, in the form in which the operations `status` and `sync`
   * return them.
   */
  statesOf({ paths, trees }: Changes): readonly AddedPathState[] {
    return [
      ...paths.map(({ path, isMissing, files, changed, added, deleted }) => ({
        ...{ path, lens: null, missing: isMissing, is_changed: changed.length + added.length + deleted.length > 0 },
        ...{ files, changed: changed.length, added: added.length, deleted: deleted.length },
        error: this.#problemBelow(path),
      })),
      ...trees.map(({ path, lens, isMissing, isChanged }) => ({
        ...{ path, lens, missing: isMissing, is_changed: isChanged },
        ...{ files: null, changed: null, added: null, deleted: null },
        error: this.#problemBelow(path),
      })),
    ]
  }

  #problemBelow(path: string): string | null {
    const found = [...this.#problems].filter(([at]) => at === path || at.startsWith(path + sep))
    const [first] = found
    if (first === undefined) return null
    const others = found.length === 1 ? '' : ` (and ${found.length - 1} more)`
    return `${first[0] === path ? '' : `${first[0].slice(path.length + 1)}: `}${first[1]}${others}`
  }
}

export interface Changes {
  readonly paths: readonly PathChanges[]
  readonly trees: readonly TreeChanges[]
}

const NO_CHANGES: Changes = { paths: [], trees: [] }

function requireAdded(paths: readonly { readonly path: string }[], name: string, field: string): void {
  if (paths.some(({ path }) => path === name)) return
  throw invalidArgument(field, name, 'an added path as `querent status` lists it')
}

const EMPTY: IngestReport = {
  ...{ added: 0, updated: 0, unchanged: 0, deleted: 0, chunks: 0 },
  ...{ skipped: [], errors: [], warnings: [], visibility_changes: [] },
}

export interface Synced {
  /** Changes of the added files as found before any of the changed files was read again. */
  readonly changes: Changes
  readonly report: IngestReport
}

function countOf(paths: readonly PathChanges[]): number {
  return paths.reduce((sum, { changed, added, deleted }) => sum + changed.length + added.length + deleted.length, 0)
}
