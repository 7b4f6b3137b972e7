/**
 * `/context/index`: one run over the workspace fills texts, concepts, links and vectors (CX-069). Each file is written in one
 * transaction, or not at all; what an ended run left undone, the next one does.
 */
import { compareText } from '../../../base/compare.ts'
import { audience } from '../../../model/partition.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { RegisteredFile } from '../body/files.ts'
import { mustHaveWorkspace, ownFiles } from '../body/register.ts'
import type { Call, Handler } from '../call.ts'
import { type Outcome, refusal } from '../envelope.ts'
import { deleteConcept, putConcept } from '../mind/rows.ts'
import { Reader } from '../params.ts'
import { counter, initialise, nextIds, setCounter } from '../parts.ts'
import { FLAG, TEXT } from '../schemas.ts'
import {
  type CodeBase,
  codeBaseOf,
  idsIn,
  packageSymbol,
  pathOf,
  REVISION,
  revisionOf,
  UNFINISHED,
} from './code-base.ts'
import { type Findings, lookOver, type ReadFile, type Told } from './look-over.ts'
import { conceptsOf, dropFile, symbolsOf, takeUp, writeFile } from './write-file.ts'
import { writeLinks } from './write-links.ts'

/** Of what is left out or failed, so many are named. */
const MOST_TOLD = 100
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
      initialise(writer, 'mind')
    })
    const codeBase = codeBaseOf(workspace)
    return codeBase.alone(() =>
      run(call, workspace, codeBase, { paths: paths.length === 0 ? null : paths, force, wait }),
    )
  },
}

async function run(call: Call, workspace: Workspace, codeBase: CodeBase, asked: Asked): Promise<Outcome> {
  const started = performance.now()
  const findings = await lookOver(call, workspace, codeBase, asked)
  const renamed = renames(findings)
  const readMs = performance.now() - started
  const { store } = call.host
  const isUnfinished = (counter(store, UNFINISHED) ?? 0) > 0
  try {
    if (isUnfinished || findings.changed.length > 0 || findings.gone.length > 0) {
      codeBase.load(store, ownFiles(call).values(), workspace)
      await writeAll(call, workspace, codeBase, findings, renamed, isUnfinished)
    }
  } catch (error) {
    codeBase.forget()
    throw error
  }
  const wroteMs = performance.now() - started
  const warnings = asked.wait ? await embedded(call) : []
  return { result: report(findings, renamed, { readMs, wroteMs }), ...(warnings.length > 0 && { meta: { warnings } }) }
}

/** New file -> the one that had the same bytes and is gone. */
function renames({ changed, gone }: Findings): ReadonlyMap<string, RegisteredFile> {
  const left = new Map<string, RegisteredFile[]>()
  const goneUrls = new Set(gone.map(({ url }) => url))
  for (const file of gone.toSorted((a, b) => compareText(a.url, b.url))) {
    if (file.size > 0) left.set(file.hash, [...(left.get(file.hash) ?? []), file])
  }
  const found = new Map<string, RegisteredFile>()
  for (const { facts } of changed) {
    const before = goneUrls.has(facts.url) ? undefined : left.get(facts.hash)?.shift()
    if (before !== undefined) found.set(facts.url, before)
  }
  return found
}

async function writeAll(
  call: Call,
  workspace: Workspace,
  codeBase: CodeBase,
  { changed, gone }: Findings,
  renamed: ReadonlyMap<string, RegisteredFile>,
  isUnfinished: boolean,
): Promise<void> {
  const { graph } = codeBase
  const goneIn = gone.flatMap(file => pathOf(workspace, file.url) ?? [])
  const without = changed.filter(({ extraction }) => extraction === null).map(({ path }) => path)
  const stale = graph.update({
    put: changed.flatMap(({ extraction }) => extraction ?? []),
    remove: [...goneIn, ...without],
  })
  const revision = begin(call, codeBase, changed, renamed)
  const written = new Set(changed.map(({ path }) => path))
  const urlOf = (path: string) => workspace.urlOf(path)
  const relinked = (isUnfinished ? graph.paths() : stale).filter(path => !written.has(path) && graph.has(path))
  const steps: ((writer: StoreWriter) => void)[] = [
    ...changed.map(file => (writer: StoreWriter) => {
      writeFile(writer, call, codeBase, file, renamed.get(file.facts.url)?.url ?? null)
      writeLinks(writer, codeBase, file.facts.url, graph.links(file.path))
    }),
    ...gone.map(file => (writer: StoreWriter) => dropFile(writer, codeBase, file, pathOf(workspace, file.url))),
    ...relinked.map(path => (writer: StoreWriter) => writeLinks(writer, codeBase, urlOf(path), graph.links(path))),
  ]
  for (let at = 0; at < steps.length; at += FILES_A_WRITE) {
    if (call.signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
    writeAs(call, revision, writer => {
      for (const step of steps.slice(at, at + FILES_A_WRITE)) step(writer)
    })
    const done = Math.min(at + FILES_A_WRITE, steps.length)
    call.emit({ phase: 'write', current: done, total: steps.length, message: changed[done - 1]?.path ?? '' })
    await new Promise(resolve => setImmediate(resolve))
  }
  writeAs(call, revision, writer => {
    dropUnusedPackages(writer, codeBase)
    setCounter(writer, UNFINISHED, 0)
  })
  codeBase.revision = revision
}

/** Ids first: files that are written one after the other name each other's concepts. */
function begin(
  { host: { store, clock }, viewer }: Call,
  codeBase: CodeBase,
  changed: readonly ReadFile[],
  renamed: ReadonlyMap<string, RegisteredFile>,
): number {
  return store.write(clock.now(), writer => {
    if (revisionOf(writer) !== codeBase.revision) throw overtaken()
    const revision = codeBase.revision + 1
    setCounter(writer, REVISION, revision)
    setCounter(writer, UNFINISHED, 1)
    for (const { path, facts, extraction } of changed) {
      const ids = idsIn(codeBase, path)
      const before = renamed.get(facts.url)
      if (before !== undefined) takeOver(writer, ids, before.url, symbolsOf(extraction))
      if (extraction !== null) takeUp(writer, ids, facts.url, extraction, viewer)
      const fresh = symbolsOf(extraction).filter(symbol => !ids.has(symbol))
      let id = fresh.length === 0 ? 0 : nextIds(writer, 'concept', fresh.length)
      for (const symbol of fresh) ids.set(symbol, id++)
    }
    for (const name of packagesIn(codeBase)) {
      if (codeBase.packages.has(name)) continue
      const symbol = packageSymbol(name)
      const draft = { name: symbol.slice('Package '.length), type: 'Package', symbol }
      const placing = { audience: audience('private', viewer.id), now: clock.now() }
      codeBase.packages.set(name, putConcept(writer, draft, placing))
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

function packagesIn({ graph }: CodeBase): ReadonlySet<string> {
  const names = new Set<string>()
  for (const path of graph.paths()) {
    for (const { target } of graph.links(path)) if ('package' in target) names.add(target.package)
  }
  return names
}

function dropUnusedPackages(writer: StoreWriter, codeBase: CodeBase): void {
  const used = packagesIn(codeBase)
  for (const [name, at] of codeBase.packages) {
    if (used.has(name)) continue
    deleteConcept(writer, at)
    codeBase.packages.delete(name)
  }
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

function report(
  { changed, gone, unchanged, leftOut, errors }: Findings,
  renamed: ReadonlyMap<string, RegisteredFile>,
  { readMs, wroteMs }: { readonly readMs: number; readonly wroteMs: number },
): Outcome['result'] {
  const files = changed.length + unchanged
  const some = (all: readonly Told[]) => all.slice(0, MOST_TOLD).map(({ url, reason }) => ({ url, reason }))
  return {
    indexed: changed.length,
    skipped: unchanged,
    deleted: gone.length - renamed.size,
    renamed: renamed.size,
    concepts: changed.reduce((sum, { extraction }) => sum + (extraction?.concepts.length ?? 0), 0),
    left_out: { total: leftOut.length, files: some(leftOut) },
    errors: { total: errors.length, files: some(errors) },
    read_ms: Math.round(readMs),
    ms: Math.round(wroteMs),
    files_per_second: Math.round(files / Math.max(0.001, wroteMs / 1000)),
  }
}
