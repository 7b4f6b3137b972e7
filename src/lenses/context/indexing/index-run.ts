/**
 * `/context/index`: one run over the workspace fills texts, concepts, links and vectors (CX-069). Each file is written in one
 * transaction, or not at all; what an ended run left undone, the next one does.
 */
import { compareText } from '../../../base/compare.ts'
import type { Workspace } from '../../../model/workspace.ts'
import { type OwnFile, ownFiles } from '../body/register.ts'
import { type Call, type Handler, mustNotBeCancelled } from '../call.ts'
import type { Outcome } from '../envelope.ts'
import { ParamReader } from '../params.ts'
import { initialise } from '../parts.ts'
import { FLAG, TEXT } from '../schemas.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { type CodeBase, codeBaseOf } from './code-base.ts'
import { lookOver, type ReadFile } from './look-over.ts'
import { type ChangedFile, report } from './report.ts'
import { isUnfinished } from './revision.ts'
import { symbolsOf } from './symbols.ts'
import { writeChanges } from './write-changes.ts'

interface Asked {
  /** Null: the whole workspace. */
  readonly paths: readonly string[] | null
  readonly force: boolean
  readonly wait: boolean
}

export const INDEX_HANDLER: Handler = {
  path: '/context/index',
  summary: 'Read the code of the workspace, or what changed in it since',
  effect: 'write',
  params: {
    path: { type: 'string', description: 'A file or folder; default: the whole workspace' },
    paths: { type: 'array', items: TEXT, description: 'Several of these' },
    force: { ...FLAG, description: 'Read unchanged files again' },
    wait: { ...FLAG, description: 'Wait for vectors; default true. Names and words answer at once' },
  },
  async run(call, params) {
    const reader = new ParamReader(params)
    const paths = [...reader.texts('paths'), ...(reader.has('path') ? [reader.text('path')] : [])]
    const force = reader.flag('force')
    const wait = reader.has('wait') ? reader.flag('wait') : true
    reader.done()
    const workspace = mustHaveWorkspace(call)
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      initialise(writer, 'body')
      initialise(writer, 'mind', call.host.random)
    })
    const codeBase = codeBaseOf(store, workspace)
    return codeBase.alone(() =>
      run(call, workspace, codeBase, { paths: paths.length === 0 ? null : paths, force, wait }),
    )
  },
}

async function run(call: Call, workspace: Workspace, codeBase: CodeBase, asked: Asked): Promise<Outcome> {
  const started = performance.now()
  try {
    const changed: ChangedFile[] = []
    const load = () => codeBase.load(() => ownFiles(call).values())
    const findings = await lookOver(call, workspace, asked, async file => {
      load()
      changed.push(await take(call, codeBase, file))
    })
    const readMs = performance.now() - started
    const changes = { changed, gone: findings.gone, renamed: renames(changed, findings.gone) }
    const mustCompareAll = isUnfinished(call.host.store)
    if (mustCompareAll || changed.length > 0 || findings.gone.length > 0) {
      load()
      await writeChanges(call, workspace, codeBase, changes, mustCompareAll)
    }
    const wroteMs = performance.now() - started
    const warnings = asked.wait ? await embedded(call) : []
    const result = report(findings, changes, { readMs, wroteMs })
    return { result, ...(warnings.length > 0 && { meta: { warnings } }) }
  } catch (error) {
    codeBase.forget()
    throw error
  }
}

async function take(
  { host }: Call,
  codeBase: CodeBase,
  { path, stamp, text, isNew, extraction }: ReadFile,
): Promise<ChangedFile> {
  await codeBase.shelf.hold(path, text, extraction, host.clock.now())
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

/** What is written stays written when its vectors fail; the answer tells. */
async function embedded(call: Call): Promise<readonly string[]> {
  try {
    await call.host.embedded?.(call.signal, ({ phase, done, total, current }) =>
      call.emit({ phase, current: done, total, message: current ?? '' }),
    )
    return []
  } catch (error) {
    mustNotBeCancelled(call)
    return [`vectors are not complete: ${error instanceof Error ? error.message : String(error)}`]
  }
}
