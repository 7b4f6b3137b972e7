/** `/body/init`, `/body/files/add` and `/body/scan` (CX-047, CX-048): which files there are. */
import { z } from 'zod'
import type { WorkspaceFile } from '../../../model/workspace.ts'
import { type Call, handler, mustNotBeCancelled } from '../call.ts'
import { type ErrorDetail, type Outcome, refusal } from '../envelope.ts'
import { leaveUnfinished } from '../indexing/revision.ts'
import { inTurn, type Turn } from '../indexing/turn.ts'
import { initialise, storePath } from '../parts.ts'
import { flag, REQUIRED, text, texts, total } from '../schemas.ts'
import { isBelow } from '../urls.ts'
import { mustHaveWorkspace } from '../workspace.ts'
import { type FileStamp, forgetFile, type OwnFile, ownFiles, registerFile, stampOf } from './register.ts'

const init = handler({
  path: '/body/init',
  summary: 'Make the part for files and their texts',
  effect: 'write',
  params: () => z.object({}),
  result: () =>
    z.strictObject({
      path: z.string().nullable().describe('The file of the store, for its owner; null for others'),
      created: z.boolean().describe('false: it was there already'),
    }),
  async run(call) {
    const { store, clock } = call.host
    const created = await store.writeWhenFree(clock.now(), writer => initialise(writer, 'body'))
    return { result: { path: storePath(call), created } }
  },
})

const url = z.string()
const stamp = z.lazy(() =>
  z.strictObject({
    url: url.describe('URL of the file'),
    hash: z.string().describe('SHA-256 of its bytes'),
    size: total.describe('Its length in bytes'),
    mtime: z.int().describe('When it was changed last, Unix seconds'),
  }),
)
const registered = z.lazy(() =>
  z.strictObject({
    files: z.array(stamp).describe('Every file that was named or found below what was named'),
    summary: z
      .strictObject({
        added: total.describe('Files that were not registered before'),
        updated: total.describe('Files whose bytes are others'),
        errors: total.describe('Files that could not be read; errors.paths of the envelope names them'),
      })
      .describe('How many of each'),
  }),
)

const add = handler({
  path: '/body/files/add',
  summary: 'Register files, or all files of folders',
  effect: 'write',
  needs: ['body'],
  params: () =>
    z
      .object({
        path: text.nullish().describe('A file or folder, from the folder of the store; this or paths is required'),
        paths: texts.describe('Several files or folders; this or path is required'),
      })
      .refine(({ path, paths }) => (path ?? paths ?? null) !== null, {
        ...REQUIRED,
        path: ['path'],
        error: 'or paths is required',
      })
      .meta({ anyOf: [{ required: ['path'] }, { required: ['paths'] }], examples: [{ path: 'src' }] }),
  result: () => registered,
  async run(call, { path, paths: several }) {
    const paths = [...(several ?? []), ...(path ? [path] : [])]
    // Whoever may not read the disk does not wait for those who do.
    if (paths.length > 0) mustHaveWorkspace(call)
    return (await inTurn(call, turn => register(turn, paths))).value
  },
})

async function register({ call, write }: Turn, paths: readonly string[]): Promise<Outcome<z.infer<typeof registered>>> {
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

const comparison = z.lazy(() =>
  z.strictObject({
    added: z.array(url).describe('URLs of files that are not registered yet'),
    updated: z.array(url).describe('URLs of files whose bytes are others'),
    deleted: z.array(url).describe('URLs of registered files that are gone'),
    unchanged: total.describe('Files that are as registered'),
    summary: z
      .strictObject({
        added: total.describe('Length of the list of that name'),
        updated: total.describe('Length of the list of that name'),
        deleted: total.describe('Length of the list of that name'),
        unchanged: total.describe('As above'),
      })
      .describe('How many of each'),
  }),
)

const scan = handler({
  path: '/body/scan',
  summary: 'Compare the registered files with those there are',
  effect: 'write',
  needs: ['body'],
  params: () =>
    z.object({
      path: text.nullish().describe('Only below this folder. Default: the folder of the store'),
      dry_run: flag.describe('Report what has changed, and write nothing. Default: false'),
    }),
  result: () => comparison,
  async run(call, { path = null, dry_run }) {
    if (dry_run) return { result: (await comparedWithDisk(call, path)).report }
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
})

export const FILE_HANDLERS = [init, add, scan] as const

interface Comparison {
  readonly added: readonly FileStamp[]
  readonly updated: readonly FileStamp[]
  readonly deleted: readonly OwnFile[]
  readonly known: ReadonlyMap<string, OwnFile>
  readonly report: z.infer<typeof comparison>
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

function report(
  added: readonly FileStamp[],
  updated: readonly FileStamp[],
  deleted: readonly { readonly url: string }[],
  unchanged: number,
): z.infer<typeof comparison> {
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
