/** Adds files and folders: read as a lens reads them, where one is named. */
import { Turns } from '../base/turns.ts'
import type { IngestReport } from '../ingest/ingest-report.ts'
import type { AddRequest } from '../model/entry-input.ts'
import { invalidArgument } from '../model/errors.ts'
import type { CallContext, Progress } from '../model/operation.ts'
import type { Parts } from './parts.ts'

export async function addFiles(parts: Parts, request: AddRequest, caller: CallContext): Promise<IngestReport> {
  const call = { ...caller, report: keepingUp(parts, caller) }
  if (request.visibility !== 'shared' && request.federations !== undefined) {
    throw invalidArgument('federations', request.federations, 'no federations unless visibility is shared')
  }
  if (request.chat !== undefined) {
    const { addConversations } = await import('./add-conversations.ts')
    return await addConversations(parts, request, call)
  }
  const { store, clock, registry } = parts
  const { lens, paths, collection, kind, tags, visibility, federations, map } = request
  if (lens !== undefined) registry.must(lens)
  // Loaded when used: most calls ask, and should not wait for parsers of file formats.
  const { ingest } = await import('../ingest/ingest.ts')
  return await ingest(
    store,
    { paths, collection, kind, tags, visibility, federations, map, lens },
    { ...call, now: clock.now(), ingestersOf: name => registry.must(name).ingesters ?? [] },
  )
}

/** Every question asks the words: what was added comes into their index along the way, not all at the next question. */
function keepingUp({ indexes }: Parts, { report }: CallContext): (progress: Progress) => void {
  let isFollowing = false
  const follow = async () => {
    isFollowing = true
    try {
      await new Turns().run(indexes.keepUp('words'))
    } catch {
      // Met by the next question.
    }
    isFollowing = false
  }
  return progress => {
    if (!isFollowing) void follow()
    report?.(progress)
  }
}
