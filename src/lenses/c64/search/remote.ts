/** A Qdrant server as a backend, reached through the source contract: this lens meets no network itself. */
import { Deadline } from '../../../base/clock.ts'
import type { Embedder } from '../../../embed/embedder.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { Source, SourceRecord } from '../../../pipeline/source.ts'
import { orderByTags, type SearchHit } from '../enrichment/hits.ts'
import type { Backend } from './backend.ts'
import { payloadOf } from './payload.ts'

export interface Remote {
  readonly source: Source
  /** Of the model that the collection was embedded with. */
  readonly embedder: Embedder
  close(): Promise<void>
}

export interface RemoteAsk {
  readonly collection: string
  readonly timeoutMs: number
  readonly sight: Sight
  readonly call: CallContext
}

export function remoteBackend({ source, embedder }: Remote, of: RemoteAsk): Backend {
  const { collection, sight, call } = of
  const deadline = new Deadline(of.timeoutMs, call.signal)
  return {
    name: 'qdrant',
    ask: async ({ text }) => {
      const [vector = null] = await embedder.embed([text], 'query', call.signal)
      return {
        warnings: [],
        search: async (anyTags, limit) => {
          const request = { sight, collections: [collection], text, vector, limit, where: [], anyTags, deadline }
          const [answer] = (await source.ask(request)).collections
          if (answer === undefined || answer.error !== null) throw failure(answer?.error ?? null, collection)
          return orderByTags(answer.records.map(hitOf), anyTags)
        },
      }
    },
  }
}

function hitOf({ id, title, content, tags, metadata, distance }: SourceRecord): SearchHit {
  return {
    id: /^(?:0|[1-9]\d{0,14})$/.test(id) ? Number(id) : id,
    score: distance === null ? 0 : 1 - distance,
    payload: payloadOf({
      ...metadata,
      ...(title === null ? {} : { title }),
      ...(content === null ? {} : { document: content }),
      ...(tags.length === 0 ? {} : { tags }),
    }),
  }
}

function failure(error: { readonly code: string; readonly message: string } | null, collection: string): QuerentError {
  const { code = 'query_failed', message = `${collection}: no answer` } = error ?? {}
  if (code === 'cancelled') return new QuerentError('cancelled', message, {})
  if (code === 'timeout') return new QuerentError('deadline_exceeded', message, { collection })
  return new QuerentError('provider_failed', message, { collection, reason: code })
}
