/**
 * Writes what a run has found: changed files, files that are gone, and the links of those that a change elsewhere touches.
 * A few files a transaction, each of which is committed only while it is still this run's turn.
 */
import { nextTurn } from '../../../base/next-turn.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { type Call, mustNotBeCancelled } from '../call.ts'
import { pathBelow } from '../urls.ts'
import type { CodeBase } from './code-base.ts'
import { giveIds } from './concept-ids.ts'
import { dropFile, dropOrphans } from './drop-file.ts'
import type { ChangedFile, Changes } from './report.ts'
import { beginRevision, endRevision } from './revision.ts'
import { dropUnwritten } from './shelf.ts'
import { requireRevision, type Turn } from './turn.ts'
import { writeCard, writeFile } from './write-file.ts'
import { dropUnusedPackages, findLinks, writeLinks } from './write-links.ts'

/** A transaction a file would cost as much as the file; all in one would keep other writers waiting. */
const FILES_A_WRITE = 16

type Write = (writer: StoreWriter) => void

/** `all`: an earlier run was cut off, so the links of every file are compared. */
export async function writeChanges(
  turn: Turn,
  workspace: Workspace,
  codeBase: CodeBase,
  changes: Changes,
  all: boolean,
): Promise<void> {
  const { call } = turn
  const { graph } = codeBase
  const { changed, gone, renamed } = changes
  for (const { url } of gone) graph.remove(pathBelow(workspace.url, url) ?? '')
  const stale = graph.stale()
  const revision = await begin(turn, codeBase, changes)
  const written = new Set(changed.map(({ path }) => path))
  const relinked = (all ? graph.paths() : stale).filter(path => !written.has(path) && graph.has(path))
  /** What needs no transaction comes first; what it gives is run inside of one. */
  const steps: (() => Write)[] = [
    ...changed.map(file => () => fileStep(call, codeBase, file, renamed.get(file.stamp.url)?.url ?? null)),
    ...gone.map(file => () => (writer: StoreWriter) => {
      dropFile(writer, codeBase, file, pathBelow(workspace.url, file.url))
    }),
    ...relinked.map(path => () => linkStep(call, codeBase, path, workspace.urlOf(path))),
  ]
  for (let at = 0; at < steps.length; at += FILES_A_WRITE) {
    mustNotBeCancelled(call)
    const ready = steps.slice(at, at + FILES_A_WRITE).map(step => step())
    await writeAs(turn, revision, writer => {
      for (const write of ready) write(writer)
    })
    for (const { path } of changed.slice(at, at + FILES_A_WRITE)) codeBase.shelf.written(path)
    const done = Math.min(at + FILES_A_WRITE, steps.length)
    call.emit({ phase: 'write', current: done, total: steps.length, message: changed[done - 1]?.path ?? '' })
    await nextTurn()
  }
  mustNotBeCancelled(call)
  await writeAs(turn, revision, writer => {
    if (all) dropOrphans(writer)
    dropUnusedPackages(writer, codeBase)
    dropUnwritten(writer)
    endRevision(writer)
  })
  codeBase.revision = revision
}

function begin(turn: Turn, codeBase: CodeBase, changes: Changes): Promise<number> {
  return turn.write(writer => {
    requireRevision(writer, codeBase.revision)
    const revision = beginRevision(writer)
    giveIds(writer, codeBase, changes, turn.call.viewer)
    return revision
  })
}

function writeAs(turn: Turn, revision: number, body: Write): Promise<void> {
  return turn.write(writer => {
    requireRevision(writer, revision)
    body(writer)
  })
}

function fileStep(call: Call, codeBase: CodeBase, { path, stamp }: ChangedFile, movedFrom: string | null): Write {
  const { text, extraction: json } = codeBase.shelf.unwritten(path)
  const extraction = json === null ? null : codeBase.shelf.get(path)
  const links = findLinks(codeBase, path)
  return writer => {
    writeFile(writer, call, codeBase, { path, stamp, text, extraction, json }, movedFrom)
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
