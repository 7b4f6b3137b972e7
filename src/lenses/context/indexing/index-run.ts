/**
 * `/context/index`: one run over the workspace fills texts, concepts, links and vectors (CX-069). Each file is written in one
 * transaction, or not at all; what an ended run left undone, the next one does.
 */
import { compareText } from '../../../base/compare.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { mustHaveWorkspace, type OwnFile, ownFiles } from '../body/register.ts'
import type { Call, Handler } from '../call.ts'
import { counter, setCounter } from '../counters.ts'
import { type Outcome, refusal } from '../envelope.ts'
import { nextNumbers } from '../numbering.ts'
import { Reader } from '../params.ts'
import { initialise } from '../parts.ts'
import { FLAG, TEXT } from '../schemas.ts'
import { type CodeBase, codeBaseOf, pathOf, REVISION, revisionOf, UNFINISHED } from './code-base.ts'
import { lookOver, type ReadFile } from './look-over.ts'
import { type ChangedFile, type Changes, report } from './report.ts'
import { dropUnwritten } from './shelf.ts'
import { conceptsOf, dropFile, dropOrphans, symbolsOf, takeUp, writeCard, writeFile } from './write-file.ts'
import { dropUnusedPackages, findLinks, writeLinks } from './write-links.ts'

/** A transaction a file would cost as much as the file; all in one would keep other writers waiting. */
const FILES_A_WRITE = 16

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
    paths: { type: 'array', items: TEXT },
    force: { ...FLAG, description: 'Read unchanged files again' },
    wait: { ...FLAG, description: 'Wait for vectors; default true. Names and words answer at once' },
  },
  run(call, params) {
    const reader = new Reader(params)
    const paths = [...reader.texts('paths'), ...(reader.has('path') ? [reader.text('path')] : [])]
    const force = reader.flag('force')
    const wait = reader.has('wait') ? reader.flag('wait') : true
    reader.done()
    const workspace = mustHaveWorkspace(call)
    const { store, clock } = call.host
    store.write(clock.now(), writer => {
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
    const findings = await lookOver(call, workspace, asked, file => {
      load()
      changed.push(take(call, codeBase, file))
    })
    const readMs = performance.now() - started
    const changes = { changed, gone: findings.gone, renamed: renames(changed, findings.gone) }
    const isUnfinished = (counter(call.host.store, UNFINISHED) ?? 0) > 0
    if (isUnfinished || changed.length > 0 || findings.gone.length > 0) {
      load()
      await writeAll(call, workspace, codeBase, changes, isUnfinished)
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

function take({ host }: Call, codeBase: CodeBase, { path, facts, text, isNew, extraction }: ReadFile): ChangedFile {
  codeBase.shelf.hold(path, text, extraction, host.clock.now())
  if (extraction === null) codeBase.graph.remove(path)
  else codeBase.graph.put(extraction)
  return { path, facts, isNew, symbols: symbolsOf(extraction) }
}

function renames(changed: readonly ChangedFile[], gone: readonly OwnFile[]): ReadonlyMap<string, OwnFile> {
  const left = new Map<string, OwnFile[]>()
  for (const file of gone.toSorted((a, b) => compareText(a.url, b.url))) {
    if (file.size > 0) left.set(file.hash, [...(left.get(file.hash) ?? []), file])
  }
  const found = new Map<string, OwnFile>()
  for (const { facts, isNew } of changed) {
    // What was there already keeps its own ids.
    const before = isNew ? left.get(facts.hash)?.shift() : undefined
    if (before !== undefined) found.set(facts.url, before)
  }
  return found
}

async function writeAll(
  call: Call,
  workspace: Workspace,
  codeBase: CodeBase,
  changes: Changes,
  isUnfinished: boolean,
): Promise<void> {
  const { graph } = codeBase
  const { changed, gone, renamed } = changes
  for (const { url } of gone) graph.remove(pathOf(workspace, url) ?? '')
  const stale = graph.stale()
  const revision = begin(call, codeBase, changes)
  const written = new Set(changed.map(({ path }) => path))
  const relinked = (isUnfinished ? graph.paths() : stale).filter(path => !written.has(path) && graph.has(path))
  /** What needs no transaction comes first; what it gives is run inside of one. */
  const steps: (() => (writer: StoreWriter) => void)[] = [
    ...changed.map(file => () => writing(call, codeBase, file, renamed.get(file.facts.url)?.url ?? null)),
    ...gone.map(file => () => (writer: StoreWriter) => dropFile(writer, codeBase, file, pathOf(workspace, file.url))),
    ...relinked.map(path => () => {
      const links = findLinks(codeBase, path)
      return (writer: StoreWriter) => {
        writeLinks(writer, call, codeBase, workspace.urlOf(path), links)
        writeCard(writer, codeBase, path)
      }
    }),
  ]
  for (let at = 0; at < steps.length; at += FILES_A_WRITE) {
    if (call.signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
    const ready = steps.slice(at, at + FILES_A_WRITE).map(step => step())
    writeAs(call, revision, writer => {
      for (const write of ready) write(writer)
    })
    for (const { path } of changed.slice(at, at + FILES_A_WRITE)) codeBase.shelf.written(path)
    const done = Math.min(at + FILES_A_WRITE, steps.length)
    call.emit({ phase: 'write', current: done, total: steps.length, message: changed[done - 1]?.path ?? '' })
    await new Promise(resolve => setImmediate(resolve))
  }
  if (call.signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
  writeAs(call, revision, writer => {
    if (isUnfinished) dropOrphans(writer)
    dropUnusedPackages(writer, codeBase)
    dropUnwritten(writer)
    setCounter(writer, UNFINISHED, 0)
  })
  codeBase.revision = revision
}

function writing(
  call: Call,
  codeBase: CodeBase,
  { path, facts }: ChangedFile,
  movedFrom: string | null,
): (writer: StoreWriter) => void {
  const { text, extraction: json } = codeBase.shelf.unwritten(path)
  const extraction = json === null ? null : codeBase.shelf.get(path)
  const links = findLinks(codeBase, path)
  return writer => {
    writeFile(writer, call, codeBase, { path, facts, text, extraction, json }, movedFrom)
    writeLinks(writer, call, codeBase, facts.url, links)
  }
}

/** Ids first: files that are written one after the other name each other's concepts. */
function begin({ host: { store, clock }, viewer }: Call, codeBase: CodeBase, { changed, renamed }: Changes): number {
  return store.write(clock.now(), writer => {
    if (revisionOf(writer) !== codeBase.revision) throw overtaken()
    const revision = codeBase.revision + 1
    setCounter(writer, REVISION, revision)
    setCounter(writer, UNFINISHED, 1)
    for (const { path, facts, symbols } of changed) {
      const ids = codeBase.idsIn(path)
      const before = renamed.get(facts.url)
      if (before !== undefined) takeOver(writer, ids, before.url, symbols)
      takeUp(writer, ids, facts.url, () => codeBase.shelf.get(path)?.concepts ?? [], viewer)
      const fresh = symbols.filter(symbol => !ids.has(symbol))
      let id = fresh.length === 0 ? 0 : nextNumbers(writer, 'concept', fresh.length)
      for (const symbol of fresh) ids.set(symbol, id++)
    }
    return revision
  })
}

/** Concepts of a moved file keep their ids. */
function takeOver(writer: StoreWriter, ids: Map<string, number>, from: string, symbols: readonly string[]): void {
  const [first, ...rest] = symbols
  const before = [...conceptsOf(writer, from)].map(([symbol, { id }]) => [symbol, id] as const)
  const own = before.find(([symbol]) => /^(?:Module|Document|Entity) /.test(symbol))
  if (first !== undefined && own !== undefined) ids.set(first, own[1])
  const byName = new Map(before)
  for (const symbol of rest) {
    const id = byName.get(symbol)
    if (id !== undefined) ids.set(symbol, id)
  }
}

function writeAs({ host: { store, clock } }: Call, revision: number, body: (writer: StoreWriter) => void): void {
  store.write(clock.now(), writer => {
    if (revisionOf(writer) !== revision) throw overtaken()
    body(writer)
  })
}

function overtaken(): Error {
  return refusal('handler', 'overtaken', 'another run has begun; it does what this one had left to do')
}

/** What is written stays written when its vectors fail; the answer tells. */
async function embedded({ host, signal, emit }: Call): Promise<readonly string[]> {
  try {
    await host.embedded?.(signal, ({ phase, done, total, current }) =>
      emit({ phase, current: done, total, message: current ?? '' }),
    )
    return []
  } catch (error) {
    if (signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
    return [`vectors are not complete: ${error instanceof Error ? error.message : String(error)}`]
  }
}
