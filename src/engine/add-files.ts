/** Adds files and folders to the store. By default they become text entries; if the request names a lens, that lens reads them. */
import { Turns } from '../base/turns.ts'
import type { IngestReport } from '../ingest/ingest-report.ts'
import type { AddRequest } from '../model/entry-input.ts'
import { invalidArgument } from '../model/errors.ts'
import type { CallContext, Progress } from '../model/operation.ts'
import type { Parts } from './parts.ts'

export async function addFiles(parts: Parts, request: AddRequest, caller: CallContext): Promise<IngestReport> {
  const { report, followed } = keepingUp(parts, caller)
  try {
    return await add(parts, request, { ...caller, report })
  } finally {
    await followed()
  }
}

async function add(parts: Parts, request: AddRequest, call: CallContext): Promise<IngestReport> {
  if (request.visibility !== 'shared' && request.federations !== undefined) {
    throw invalidArgument('federations', request.federations, 'no federations unless visibility is shared')
  }
  if (request.chat !== undefined) {
    const { addChats } = await import('./add-chats.ts')
    return await addChats(parts, request, call)
  }
  const { store, clock, registry } = parts
  const { lens, paths, collection, kind, tags, visibility, federations, map } = request
  if (lens !== undefined) registry.must(lens)
  // The module that reads files is imported at its first use: most calls are queries, and should not wait for the parsers of file formats
  // to load.
  const { ingest } = await import('../ingest/ingest.ts')
  return await ingest(
    store,
    { paths, collection, kind, tags, visibility, federations, map, lens },
    { ...call, now: clock.now(), ingestersOf: name => registry.must(name).ingesters ?? [] },
  )
}

/**
 * Brings the word index up to date at each progress report while files are being added, so that the next query need not index all of the
 * new entries at once.
 */
function keepingUp({ indexes }: Parts, { report }: CallContext): KeepingUp {
  let following: Promise<void> | null = null
  const follow = async () => {
    try {
      await new Turns().run(indexes.keepUp('words'))
    } catch {
      // An error of the index update is ignored: the next query updates the index itself and reports the error.
    }
    following = null
  }
  return {
    report: progress => {
      following ??= follow()
      report?.(progress)
    },
    followed: async () => {
      await following
    },
  }
}

interface KeepingUp {
  readonly report: (progress: Progress) => void
  /** Resolves when the index update in progress has ended; at once if there is none. */
  readonly followed: () => Promise<void>
}
