/** `/body/init`, `/body/files/add` and `/body/scan` (CX-047, CX-048): which files there are. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { WorkspaceFile } from '../../../model/workspace.ts'
import { type Call, type Handler, mustNotBeCancelled } from '../call.ts'
import { type ErrorDetail, type Outcome, refusal } from '../envelope.ts'
import { leaveUnfinished } from '../indexing/revision.ts'
import { inTurn, type Turn } from '../indexing/turn.ts'
import type { ParamReader } from '../params.ts'
import { initialise, storePath } from '../parts.ts'
import { readParams } from '../read-params.ts'
import { FLAG, TEXT } from '../schemas.ts'
import { isBelow } from '../urls.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { type FileStamp, forgetFile, type OwnFile, ownFiles, registerFile, stampOf } from './register.ts'

const init: Handler = {
  path: '/body/init',
  summary: 'Make the part for files and their texts',
  effect: 'write',
  async run(call) {
    const { store, clock } = call.host
    const created = await store.writeWhenFree(clock.now(), writer => initialise(writer, 'body'))
    return { result: { path: storePath(call), created } }
  },
}

const add: Handler = {
  path: '/body/files/add',
  summary: 'Register files, or all files of folders',
  effect: 'write',
  params: {
    path: { ...TEXT, description: 'A file or folder' },
    paths: { type: 'array', items: TEXT, description: 'Several of these' },
  },
  async run(call, params): Promise<Outcome> {
    const paths = readParams(call, ['body'], params, readPaths)
    // Whoever may not read the disk does not wait for those who do.
    if (paths.length > 0) mustHaveWorkspace(call)
    return (await inTurn(call, turn => register(turn, paths))).value
  },
}

async function register({ call, write }: Turn, paths: readonly string[]): Promise<Outcome> {
  const all = new Map<string, WorkspaceFile>()
  for (const path of paths) for (const file of await readAll(call, path)) all.set(file.url, file)
  const found = [...all.values()]
  const stamps = found.flatMap(file => stampOf(file) ?? [])
  const failed = found.flatMap((file): ErrorDetail[] =>
    file.ok ? [] : [{ code: file.code, message: file.message, meta: { url: file.url } }],
  )
  const known = ownFiles(call)
  const changed = stamps.filter(({ url, hash }) => known.get(url)?.hash !== hash)
  await write(writer => {
    for (const file of changed) registerFile(writer, call, file, known.get(file.url))
  })
  const added = changed.filter(({ url }) => !known.has(url)).length
  return {
    result: {
      files: stamps.map(stamp => ({ ...stamp })),
      summary: { added, updated: changed.length - added, errors: failed.length },
    },
    ...(failed.length === 0 ? {} : { errors: { paths: failed } }),
  }
}

const scan: Handler = {
  path: '/body/scan',
  summary: 'Compare the registered files with those there are',
  effect: 'write',
  params: {
    path: { ...TEXT, description: 'Only below this folder' },
    dry_run: { ...FLAG, description: 'Tell what has changed, and write nothing' },
  },
  async run(call, params) {
    const { path, isDry } = readParams(call, ['body'], params, reader => ({
      path: reader.optionalText('path'),
      isDry: reader.flag('dry_run'),
    }))
    if (isDry) return { result: (await comparedWithDisk(call, path)).report }
    mustHaveWorkspace(call)
    const { value } = await inTurn(call, async turn => {
      const { added, updated, deleted, known, report } = await comparedWithDisk(turn.call, path)
      await turn.write(writer => {
        for (const file of [...added, ...updated]) registerFile(writer, call, file, known.get(file.url))
        for (const file of deleted) forgetFile(writer, file)
        if (deleted.some(({ indexedHash }) => indexedHash !== null)) leaveUnfinished(writer)
      })
      return report
    })
    return { result: value }
  },
}

export const FILE_HANDLERS: readonly Handler[] = [init, add, scan]

interface Comparison {
  readonly added: readonly FileStamp[]
  readonly updated: readonly FileStamp[]
  readonly deleted: readonly OwnFile[]
  readonly known: ReadonlyMap<string, OwnFile>
  readonly report: JsonObject
}

/** Throws `Refusal` for a path outside of the workspace. */
async function comparedWithDisk(call: Call, path: string | null): Promise<Comparison> {
  const workspace = mustHaveWorkspace(call)
  const below = path === null ? workspace.url : workspace.urlOf(path)
  const found = await readAll(call, path)
  const outside = found.find(file => !file.ok && file.code === 'outside')
  if (outside !== undefined) throw refusal('path', 'outside', 'path lies outside of the workspace')
  const stamps = found.flatMap(file => stampOf(file) ?? [])
  const known = ownFiles(call)
  const there = new Set(stamps.map(({ url }) => url))
  const added = stamps.filter(({ url }) => !known.has(url))
  const updated = stamps.filter(({ url, hash }) => known.has(url) && known.get(url)?.hash !== hash)
  const deleted = [...known.values()].filter(({ url }) => isBelow(url, below) && !there.has(url))
  const unchanged = stamps.length - added.length - updated.length
  return { added, updated, deleted, known, report: report(added, updated, deleted, unchanged) }
}

function readPaths(reader: ParamReader): readonly string[] {
  const paths = [...reader.texts('paths'), ...(reader.has('path') ? [reader.text('path')] : [])]
  if (paths.length === 0 && !reader.has('paths')) reader.fail('path', 'required', 'path or paths is required', '')
  return paths
}

function report(
  added: readonly FileStamp[],
  updated: readonly FileStamp[],
  deleted: readonly { readonly url: string }[],
  unchanged: number,
): JsonObject {
  const urls = (files: readonly { readonly url: string }[]) => files.map(({ url }) => url)
  return {
    added: urls(added),
    updated: urls(updated),
    deleted: urls(deleted),
    unchanged,
    summary: { added: added.length, updated: updated.length, deleted: deleted.length, unchanged },
  }
}

/** A path that leads nowhere is told as a file that is not there. */
async function readAll(call: Call, path: string | null): Promise<readonly WorkspaceFile[]> {
  const workspace = mustHaveWorkspace(call)
  const files: WorkspaceFile[] = []
  for await (const url of workspace.list(path, call.signal)) {
    mustNotBeCancelled(call)
    files.push(await workspace.read(url))
    call.emit({ phase: 'scan', current: files.length, total: null, message: url })
  }
  // A listing that was stopped is short: what it lacks is not gone.
  mustNotBeCancelled(call)
  return files.length > 0 || path === null ? files : [await workspace.read(workspace.urlOf(path))]
}
