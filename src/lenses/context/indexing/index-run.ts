/**
 * The call `/context/index`: one run over the workspace that stores texts, concepts, links and vectors (CX-069). Each file is written in
 * one transaction or not at all; what an interrupted run left undone, the next run does. Runs on one store happen one after another
 * (CX-075).
 */
import { z } from 'zod'
import { nextTurn } from '../../../base/turns.ts'
import type { Workspace } from '../../../model/workspace.ts'
import { forgetTrees, marksOf, rememberTrees } from '../../../pipeline/indexed-trees.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { type OwnFile, ownFiles } from '../body.ts'
import {
  assertNotCancelled,
  type Call,
  handler,
  inTurn,
  Overtaken,
  ownFilesWithErrors,
  requireRevision,
  requireWorkspace,
  type Turn,
  transact,
} from '../call.ts'
import { beginRevision, endRevision, initialise, isUnfinished } from '../counters.ts'
import type { Outcome } from '../envelope.ts'
import { flag, text, texts } from '../envelope.ts'
import { pathBelow } from '../names.ts'
import { type CodeBase, codeBaseOf, symbolsOf } from './code-base.ts'
import { allGone, type ChangedFile, type Changes, indexReport, lookOver, type ReadFile, report } from './look-over.ts'
import {
  dropFile,
  dropOrphans,
  dropUnusedPackages,
  findLinks,
  giveIds,
  writeCard,
  writeFile,
  writeLinks,
} from './write-file.ts'

/**
 * Number of files that are written in one transaction. One transaction per file would cost as much as writing the file, and one for all
 * files would keep other writers waiting.
 */
const FILES_A_WRITE = 16

type Write = (writer: StoreWriter) => void

/**
 * Writes changed files and their links to the store. `all`: the links of every file are compared with the stored ones, because an earlier
 * run was interrupted.
 */
async function writeChanges(
  turn: Turn,
  workspace: Workspace,
  codeBase: CodeBase,
  changes: Changes,
  all: boolean,
): Promise<void> {
  const { call } = turn
  const { graph } = codeBase
  const { changed, gone } = changes
  for (const { url } of gone) graph.remove(pathBelow(workspace.url, url) ?? '')
  const stale = graph.stale()
  const revision = await begin(turn, codeBase, changed)
  const written = new Set(changed.map(({ path }) => path))
  const relinked = (all ? graph.paths() : stale).filter(path => !written.has(path) && graph.has(path))
  /**
   * Each step first does, outside any transaction, the work that needs none. It then returns a function that does the writing within a
   * transaction.
   */
  const steps: (() => Write)[] = [
    ...changed.map(file => () => fileStep(call, codeBase, file)),
    ...gone.map(file => () => (writer: StoreWriter) => {
      dropFile(writer, codeBase, file, pathBelow(workspace.url, file.url))
    }),
    ...relinked.map(path => () => linkStep(call, codeBase, path, workspace.urlOf(path))),
  ]
  for (let at = 0; at < steps.length; at += FILES_A_WRITE) {
    assertNotCancelled(call)
    const ready = steps.slice(at, at + FILES_A_WRITE).map(step => step())
    await writeAs(turn, revision, writer => {
      for (const write of ready) write(writer)
    })
    for (const { path } of changed.slice(at, at + FILES_A_WRITE)) codeBase.cache.written(path)
    const done = Math.min(at + FILES_A_WRITE, steps.length)
    call.emit({ phase: 'write', current: done, total: steps.length, message: changed[done - 1]?.path ?? '' })
    await nextTurn()
  }
  assertNotCancelled(call)
  await writeAs(turn, revision, writer => {
    if (all) dropOrphans(writer)
    dropUnusedPackages(writer, codeBase)
    endRevision(writer)
  })
  codeBase.revision = revision
}

function begin(turn: Turn, codeBase: CodeBase, changed: readonly ChangedFile[]): Promise<number> {
  return turn.write(writer => {
    requireRevision(writer, codeBase.revision)
    const revision = beginRevision(writer)
    giveIds(writer, codeBase, changed)
    return revision
  })
}

function writeAs(turn: Turn, revision: number, body: Write): Promise<void> {
  return turn.write(writer => {
    requireRevision(writer, revision)
    body(writer)
  })
}

function fileStep(call: Call, codeBase: CodeBase, { path, stamp }: ChangedFile): Write {
  const { text, extraction: json } = codeBase.cache.unwritten(path)
  const extraction = json === null ? null : codeBase.cache.get(path)
  const links = findLinks(codeBase, path)
  return writer => {
    writeFile(writer, call, codeBase, { path, stamp, text, extraction, json })
    writeLinks(writer, call, codeBase, stamp.url, links)
  }
}

function linkStep(call: Call, codeBase: CodeBase, path: string, url: string): Write {
  const links = findLinks(codeBase, path)
  return writer => {
    writeLinks(writer, call, codeBase, url, links)
    writeCard(writer, codeBase, path)
  }
}

type Report = z.infer<typeof indexReport>

interface Asked {
  /** Paths of files and folders to index; null: the whole workspace. */
  readonly paths: readonly string[] | null
  readonly force: boolean
  readonly forget: boolean
}

export const INDEX_HANDLER = handler({
  path: '/context/index',
  summary: 'Read the code of the workspace, or the files that changed since the last run',
  effect: 'write',
  params: () =>
    z.object({
      path: text.nullish().describe('A file or folder, from the folder of the store. Default: all of that folder'),
      paths: texts.describe('Several files or folders, beside path. Default: none'),
      force: flag.describe('Read unchanged files again. Default: false'),
      forget: flag.describe('Delete what was read of the files, and read them again only on request. Default: false'),
      wait: z
        .boolean()
        .nullish()
        .transform(value => value ?? true)
        .describe('Wait for vectors; without them, names and words answer. Default: true'),
    }),
  result: () => indexReport,
  async run(call, { path, paths: several, force, forget, wait }) {
    const paths = [...(several ?? []), ...(path ? [path] : [])]
    const workspace = requireWorkspace(call)
    await transact(call, writer => {
      initialise(writer, 'body')
      initialise(writer, 'mind', call.host.random)
    })
    const asked = { paths: paths.length === 0 ? null : paths, force, forget }
    return run(call, asked, wait, workspace)
  },
})

async function run(call: Call, asked: Asked, wait: boolean, workspace: Workspace): Promise<Outcome<Report>> {
  const codeBase = codeBaseOf(call.host.store, workspace)
  const { value, waitedMs, restarts } = await inTurn(call, turn => brought(turn, workspace, codeBase, asked))
  const warnings = [
    ...(restarts === 0 ? [] : [`other runs took over ${restarts} times, and this one began again`]),
    ...(wait ? await embedded(call) : []),
  ]
  return {
    result: { ...value, ...(waitedMs > 0 && { waited_ms: waitedMs }) },
    ...(warnings.length > 0 && { meta: { warnings } }),
  }
}

/** Brings the store into agreement with the files of the workspace, and returns a report. */
async function brought(turn: Turn, workspace: Workspace, codeBase: CodeBase, asked: Asked): Promise<Report> {
  const { call } = turn
  const started = performance.now()
  try {
    const changed: ChangedFile[] = []
    let written = 0
    let isLoaded = false
    // The state is loaded once per run: loading it again would drop files that were read but are not written yet.
    const load = () => {
      if (!isLoaded) codeBase.load(turn, () => ownFiles(call).values())
      isLoaded = true
    }
    const { store } = call.host
    /** Writes the files that were read since the last write, as if the run were over these files alone. */
    const write = async (gone: readonly OwnFile[]) => {
      const comparesAll = isUnfinished(store)
      const part = { changed: changed.slice(written), gone }
      if (!comparesAll && part.changed.length === 0 && gone.length === 0) return
      load()
      await writeChanges(turn, workspace, codeBase, part, comparesAll)
      written = changed.length
    }
    const owner = { holder: call.viewer.id, lens: 'context' }
    const trees = asked.forget ? [] : await marksOf(store, workspace, owner, asked.paths, call.signal)
    const findings = asked.forget
      ? allGone(call, workspace, asked.paths)
      : await lookOver(call, workspace, asked, async file => {
          load()
          changed.push(take(turn, codeBase, file))
          if (codeBase.isFull) await write([])
        })
    const readMs = performance.now() - started
    await write(findings.gone)
    if (asked.forget) await turn.write(writer => forgetTrees(writer, workspace, owner, asked.paths))
    if (trees.length > 0) await turn.write(writer => rememberTrees(writer, workspace, owner, trees))
    return report(findings, changed, { readMs, wroteMs: performance.now() - started }, ownFilesWithErrors(call))
  } catch (error) {
    codeBase.forget(turn)
    throw error
  }
}

function take(turn: Turn, codeBase: CodeBase, { path, stamp, text, isNew, extraction }: ReadFile): ChangedFile {
  if (!codeBase.isOf(turn)) throw new Overtaken()
  codeBase.cache.hold(path, text, extraction)
  if (extraction === null) codeBase.graph.remove(path)
  else codeBase.graph.put(extraction)
  return { path, stamp, isNew, symbols: symbolsOf(extraction) }
}

/** Embeds the concepts that were written. They stay in the store when embedding fails or takes too long; the answer then has a warning. */
async function embedded(call: Call): Promise<readonly string[]> {
  const { host, signal, maxWaitMs } = call
  const late = maxWaitMs === null ? null : AbortSignal.timeout(maxWaitMs)
  try {
    const stop = late === null ? signal : AbortSignal.any([signal, late])
    await host.embedded?.(stop, ({ phase, done, total, current }) =>
      call.emit({
        phase,
        current: done,
        total,
        message: current ?? 'with `wait: false` a run does not wait for vectors',
      }),
    )
    return []
  } catch (error) {
    assertNotCancelled(call)
    if (late?.aborted === true) return [lateVectors(maxWaitMs ?? 0)]
    return [`vectors are not complete: ${error instanceof Error ? error.message : String(error)}`]
  }
}

function lateVectors(waitedMs: number): string {
  return `vectors are not complete after ${waitedMs / 1000} s (setting lenses.context.max_wait): names and words answer now, a process that stays open on the store makes the vectors; with \`wait: false\` a run does not wait for them`
}
