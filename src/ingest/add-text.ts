/** A text without a file (standard input, say) as one entry. */
import { sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { EntryDraft } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import { MAX_CONTENT_LENGTH } from '../model/limits.ts'
import type { Audience } from '../model/partition.ts'
import type { PutResult, Store } from '../store/store.ts'
import { chunkContent, type TextFormat } from '../text/chunk.ts'
import { ownEntries, withTimesOf } from './own-entry.ts'

export interface TextRequest {
  readonly text: string
  /** Default: `text/` and a hash of it, so that the same text is one entry. */
  readonly id?: string | undefined
  readonly title?: string | undefined
  /** Default `plain`. */
  readonly format?: TextFormat | undefined
  readonly collection: string
  /** Default `note`. */
  readonly kind?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly audience: Audience
}

export function addText(store: Store, request: TextRequest, now: Instant): PutResult & { readonly id: string } {
  const content = request.text.toWellFormed()
  if (content.trim() === '') throw invalidArgument('text', '', 'some text')
  if (content.length > MAX_CONTENT_LENGTH) {
    const message = `text: ${content.length} characters, at most ${MAX_CONTENT_LENGTH} are allowed`
    throw new QuerentError('too_large', message, { field: 'text', value: content.length, limit: MAX_CONTENT_LENGTH })
  }
  const id = request.id ?? `text/${sha256(content).slice(0, 16)}`
  const draft: EntryDraft = {
    id,
    collection: request.collection,
    kind: request.kind ?? 'note',
    title: request.title ?? '',
    content,
    tags: request.tags ?? [],
    metadata: {},
    audience: request.audience,
    origin: null,
    createdAt: now,
    updatedAt: now,
    validFrom: null,
    validUntil: null,
    knownAt: now,
  }
  const chunks = chunkContent(content, { format: request.format ?? 'plain' })
  return store.write(now, writer => {
    const before = ownEntries(writer, draft.audience.holder)(id)
    return { id, ...writer.put(before === undefined ? draft : withTimesOf(before, draft), chunks) }
  })
}
