/** Copies a collection of this store to ChromaDB or Qdrant; for the local owner only, since entries leave the store. */
import { modelKey } from '../embed/embedder.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { Progress } from '../model/operation.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import { chromaTarget } from '../sources/chroma-target.ts'
import { SourceFailure } from '../sources/failure.ts'
import { type MirrorReport, type MirrorTarget, mirror } from '../sources/mirror.ts'
import { qdrantTarget } from '../sources/qdrant-target.ts'
import type { Engine } from './engine.ts'

export interface MirrorCollectionRequest {
  readonly collection: string
  readonly to: 'chromadb' | 'qdrant'
  readonly url: string
  /** Name of the tenant on a ChromaDB server; ignored for Qdrant. */
  readonly tenant?: string | undefined
  readonly database?: string | undefined
  /** Authentication token (ChromaDB) or API key (Qdrant) for the server. */
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly report?: ((progress: Progress) => void) | undefined
}

/**
 * Makes the server hold exactly what the store now has of the collection, in one collection on the server for each audience; the report
 * lists the records that the server refused. Rejects with `not_found` if the collection is empty here and has no mirror on the server, with
 * `provider_failed`, or with `cancelled`. Rejects with `conflict` if there is no embedder, or if a mirror of another store already uses a
 * name that is needed on the server; collections for other audiences have been mirrored by then.
 */
export async function mirrorCollection(engine: Engine, request: MirrorCollectionRequest): Promise<MirrorReport> {
  const { collection, report, signal = new AbortController().signal } = request
  const { store, embedder, accessScope } = engine.host('default')
  if (embedder === null) throw new QuerentError('conflict', 'mirror: there is no embedder, so there are no vectors')
  const owner = accessScope(LOCAL_OWNER)
  const { model } = embedder
  const common = { reader: store, accessScope: owner, collection, signal, report }
  const vectors = { model: modelKey(model), dimensions: model.dimensions }
  try {
    const report = await mirror({ ...common, ...vectors, target: targetOf(request, signal) })
    requireOwnNames(report, request)
    return report
  } catch (error) {
    if (signal.aborted) throw new QuerentError('cancelled', 'mirror: stopped; run it again to continue', {}, error)
    if (!(error instanceof SourceFailure)) throw error
    const isEmpty = store.count(owner, { op: 'eq', field: 'collection', value: collection }) === 0
    const problem = isEmpty ? `collection: there is nothing in "${collection}"; its mirror cannot be emptied: ` : ''
    throw new QuerentError('provider_failed', problem + error.message, { provider: request.to, status: null }, error)
  }
}

function requireOwnNames({ names, taken, unowned }: MirrorReport, { collection, to }: MirrorCollectionRequest): void {
  if (taken.length > 0) {
    const isUnowned = taken.every(name => unowned.includes(name))
    const held = isUnowned ? 'a mirror of an earlier version, not only of this store' : "another store's mirror"
    const remedy =
      to === 'chromadb' ? 'use another database, or delete it there' : 'use another server, or delete it there'
    const problem = `mirror: "${collection}" needs ${taken.join(', ')}, which holds something else: ${held}; nothing was changed there; ${remedy}`
    throw new QuerentError('conflict', problem, { collection, taken })
  }
  if (names.length > 0 || unowned.length > 0) return
  throw new QuerentError('not_found', `collection: there is nothing in "${collection}"`, { collection })
}

function targetOf({ to, url, tenant, database, token }: MirrorCollectionRequest, signal: AbortSignal): MirrorTarget {
  switch (to) {
    case 'chromadb':
      return chromaTarget({ url, tenant, database, token }, signal)
    case 'qdrant':
      return qdrantTarget({ url, apiKey: token })
    default:
      throw invalidArgument('to', to, 'chromadb or qdrant')
  }
}
