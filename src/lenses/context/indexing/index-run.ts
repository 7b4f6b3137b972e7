/**
 * `/context/index`: one run over the workspace fills texts, concepts, links and vectors (CX-069). Each file is written in one
 * transaction, or not at all; what an ended run left undone, the next one does. Runs on one store follow each other (CX-075).
 */
import { z } from 'zod'
import { compareText } from '../../../base/compare.ts'
import type { Workspace } from '../../../model/workspace.ts'
import { type OwnFile, ownFiles } from '../body/register.ts'
import { type Call, handler, mustNotBeCancelled } from '../call.ts'
import type { Outcome } from '../envelope.ts'
import { initialise } from '../parts.ts'
import { ownFilesWithErrors } from '../read-notes.ts'
import { flag, text, texts } from '../schemas.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { type CodeBase, codeBaseOf } from './code-base.ts'
import { lookOver, type ReadFile } from './look-over.ts'
import { type ChangedFile, indexReport, report } from './report.ts'
import { isUnfinished } from './revision.ts'
import { symbolsOf } from './symbols.ts'
import { inTurn, Overtaken, type Turn } from './turn.ts'
import { writeChanges } from './write-changes.ts'

type Report = z.infer<typeof indexReport>

interface Asked {
  /** Null: the whole workspace. */
  readonly paths: readonly string[] | null
  readonly force: boolean
}

export const INDEX_HANDLER = handler({
  path: '/context/index',
  summary: 'Read the code of the workspace, or what changed in it since',
  effect: 'write',
  params: () =>
    z.object({
      path: text.nullish().describe('A file or folder, from the folder of the store. Default: all of that folder'),
      paths: texts.describe('Several files or folders, beside path. Default: none'),
      force: flag.describe('Read unchanged files again. Default: false'),
      wait: z
        .boolean()
        .nullish()
        .transform(value => value ?? true)
        .describe('Wait for vectors; with false names and words answer at once. Default: true'),
    }),
  result: () => indexReport,
  async run(call, { path, paths: several, force, wait }) {
    const paths = [...(several ?? []), ...(path ? [path] : [])]
    const workspace = mustHaveWorkspace(call)
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      initialise(writer, 'body')
      initialise(writer, 'mind', call.host.random)
    })
    const asked = { paths: paths.length === 0 ? null : paths, force }
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

/** Brings the store in line with the files. */
async function brought(turn: Turn, workspace: Workspace, codeBase: CodeBase, asked: Asked): Promise<Report> {
  const { call } = turn
  const started = performance.now()
  try {
    const changed: ChangedFile[] = []
    let isLoaded = false
    // Once a run: loading again would drop what was read and is not written yet.
    const load = () => {
      if (!isLoaded) codeBase.load(turn, () => ownFiles(call).values())
      isLoaded = true
    }
    const findings = await lookOver(call, workspace, asked, async file => {
      load()
      changed.push(await take(turn, codeBase, file))
    })
    const readMs = performance.now() - started
    const changes = { changed, gone: findings.gone, renamed: renames(changed, findings.gone) }
    const mustCompareAll = isUnfinished(call.host.store)
    if (mustCompareAll || changed.length > 0 || findings.gone.length > 0) {
      load()
      await writeChanges(turn, workspace, codeBase, changes, mustCompareAll)
    }
    return report(findings, changes, { readMs, wroteMs: performance.now() - started }, ownFilesWithErrors(call))
  } catch (error) {
    codeBase.forget(turn)
    throw error
  }
}

async function take(
  turn: Turn,
  codeBase: CodeBase,
  { path, stamp, text, isNew, extraction }: ReadFile,
): Promise<ChangedFile> {
  if (!codeBase.isOf(turn)) throw new Overtaken()
  await codeBase.shelf.hold(path, text, extraction, turn.write)
  if (extraction === null) codeBase.graph.remove(path)
  else codeBase.graph.put(extraction)
  return { path, stamp, isNew, symbols: symbolsOf(extraction) }
}

/** A new file with the bytes of one that is gone is the same file, moved. */
function renames(changed: readonly ChangedFile[], gone: readonly OwnFile[]): ReadonlyMap<string, OwnFile> {
  const left = Map.groupBy(
    gone.filter(({ size }) => size > 0).sort((a, b) => compareText(a.url, b.url)),
    ({ hash }) => hash,
  )
  const found = new Map<string, OwnFile>()
  for (const { stamp, isNew } of changed) {
    // What was there already keeps its own ids.
    const before = isNew ? left.get(stamp.hash)?.shift() : undefined
    if (before !== undefined) found.set(stamp.url, before)
  }
  return found
}

/** What is written stays written when its vectors fail or take too long; the answer says so. */
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
    mustNotBeCancelled(call)
    if (late?.aborted === true) return [lateVectors(maxWaitMs ?? 0)]
    return [`vectors are not complete: ${error instanceof Error ? error.message : String(error)}`]
  }
}

function lateVectors(waitedMs: number): string {
  return `vectors are not complete after ${waitedMs / 1000} s (setting lenses.context.max_wait): names and words answer now, a process that stays open on the store makes the vectors; with \`wait: false\` a run does not wait for them`
}
