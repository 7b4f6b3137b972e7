/** The lens's question: enriched, searched, trimmed. */
import type { Steps } from '../../base/turns.ts'
import type { CallContext } from '../../model/operation.ts'
import { isOwner } from '../../model/viewer.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import type { LensHost } from '../lens.ts'
import { hasCorpus, keepCorpus } from './corpus/store.ts'
import { type Enrichment, enrichInSteps, withoutEnrichment } from './enrichment/enrich.ts'
import type { SearchHit } from './enrichment/hits.ts'
import type { Backend, SearchWarning } from './search/backend.ts'
import { embeddedBackend } from './search/embedded.ts'
import { remoteBackend } from './search/remote.ts'
import { runSearch, type SearchSettings } from './search/run-search.ts'
import { stateOf } from './state.ts'

/** What is left out is as the lens is set. */
export interface C64Question extends GivenSearch {
  readonly query: string
  /** As it is: no enrichment, searched by meaning among all records. */
  readonly raw?: boolean | undefined
}

type GivenSearch = { readonly [Name in keyof SearchSettings]?: SearchSettings[Name] | undefined }

export interface C64Answer {
  readonly enrichment: Enrichment
  /** What was searched, for the reader. */
  readonly searchMode: string
  readonly backend: Backend['name']
  /** Best first. */
  readonly results: readonly SearchHit[]
  readonly warnings: readonly SearchWarning[]
}

export async function askC64(host: LensHost, question: C64Question, call: CallContext): Promise<C64Answer> {
  const { settings } = stateOf(host)
  const enrichment = await turnsUntil(call.signal).run(enrichC64(host, question))
  const backend = await backendOf(host, call)
  const asked = await backend.ask({ text: enrichment.enrichedQuery, exact: enrichment.filterTags })
  const given = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== undefined))
  const { hits, mode } = await runSearch(enrichment, asked, { ...settings, ...given })
  return {
    enrichment,
    searchMode: mode,
    backend: backend.name,
    results: hits,
    warnings: [...pluginWarnings(enrichment), ...asked.warnings],
  }
}

/** Needs neither store, server, key nor model. */
export function* enrichC64(
  host: LensHost,
  { query, raw = false }: Pick<C64Question, 'query' | 'raw'>,
): Steps<Enrichment> {
  return raw ? withoutEnrichment(query) : yield* enrichInSteps(query, stateOf(host).domain)
}

export function pluginWarnings({ warnings }: Enrichment): readonly SearchWarning[] {
  return warnings.map(({ message }) => ({ code: 'plugin_failed', message }))
}

async function backendOf(host: LensHost, call: CallContext): Promise<Backend> {
  const state = stateOf(host)
  const { backend, collection, qdrantCollection, timeoutMs } = state.settings
  if (backend === 'qdrant') {
    const sight = host.sight(call.viewer)
    return remoteBackend(await state.remote(), { collection: qdrantCollection, timeoutMs, sight, call })
  }
  if (isOwner(call.viewer)) await keepCorpus(host.store, collection, host.clock.now())
  else if (!hasCorpus(host.store, collection)) return embeddedBackend(await state.inMemory(host), collection, call)
  return embeddedBackend(host, collection, call)
}
