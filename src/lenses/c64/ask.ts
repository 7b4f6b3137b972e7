/**
 * Answers a question of the C64 lens: by a query through the pipeline over the store, or by a Qdrant server (an external vector database),
 * whichever is configured.
 */
import type { Entry } from '../../model/entry.ts'
import type { CallContext } from '../../model/operation.ts'
import type { Item, Note, Page } from '../../model/page.ts'
import type { QueryInput } from '../../model/query-input.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { camelCased, snakeCased } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'
import { hasCorpus } from './corpus-store.ts'
import { type Enrichment, modeText, withoutEnrichment } from './enrichment/enrich.ts'
import { payloadOf, type SearchHit } from './enrichment/hits.ts'
import { runSearch, searchFor } from './server.ts'
import type { C64Question, C64Settings } from './settings.ts'
import { enrichmentOf, NO_TAG_MATCH } from './stages.ts'
import { stateOf } from './state.ts'

/**
 * A reason why an answer is incomplete. `code` never changes its meaning: `plugin_failed`, `vectors_pending`, or the code of a note from
 * the query pipeline.
 */
interface SearchWarning {
  readonly code: string
  readonly message: string
}

export interface C64Answer {
  readonly enrichment: Enrichment
  /** Which records were searched and how (by tags, by meaning, or both), as a text for people. */
  readonly searchMode: string
  readonly backend: C64Settings['backend']
  /** Records found by the search, best first. */
  readonly results: readonly SearchHit[]
  /**
   * The query pipeline's verdict on the answer: answered, weak, or nothing relevant. Null: the answer is from a Qdrant server, which gives
   * no verdict.
   */
  readonly verdict: Page['verdict'] | null
  readonly reason: string | null
  /** If nothing relevant was found, the nearest records, at most three; otherwise empty. */
  readonly nearest: readonly SearchHit[]
  readonly cursor: string | null
  readonly warnings: readonly SearchWarning[]
}

export function askC64(host: LensHost, question: C64Question, call: CallContext): Promise<C64Answer> {
  const { backend } = stateOf(host).settings
  return backend === 'qdrant' ? askServer(host, question, call) : askStore(host, question, call)
}

/** Converts a question of this lens to the input of a pipeline query, with the lens's settings as defaults. */
export function queryOf(host: LensHost, { query, cursor, limit, ...options }: C64Question): QueryInput {
  const { settings } = stateOf(host)
  return {
    ...{ text: query, cursor, limit: limit ?? settings.limit, timeout_ms: settings.timeoutMs },
    options: snakeCased(options),
  }
}

async function askStore(host: LensHost, question: C64Question, call: CallContext): Promise<C64Answer> {
  const { page, entries, nearest, facts } = await host.query(queryOf(host, question), call)
  const enrichment = enrichmentOf({ facts }) ?? withoutEnrichment(question.query)
  const fellBack = page.notes.some(({ code }) => code === NO_TAG_MATCH)
  return {
    enrichment,
    searchMode: modeText(enrichment.strategy, enrichment.filterTags, fellBack),
    backend: 'embedded',
    results: hitsOf(page.items, entries),
    verdict: page.verdict,
    reason: page.reason,
    nearest: hitsOf(page.nearest ?? [], nearest?.entries ?? []),
    cursor: page.cursor,
    // Most questions about registers can be answered by words alone, so if no embedding model is installed, the note `words_only` is not
    // passed on as a warning.
    warnings: page.notes
      .filter(({ code }) => code !== 'words_only' || host.embedder !== null)
      .flatMap(note => warningOf(note, hasCorpus(host.store, stateOf(host).settings.collection))),
  }
}

function hitsOf(items: readonly Item[], entries: readonly Entry[]): readonly SearchHit[] {
  return items.map(({ id, score }, at) => {
    const { metadata, title, content, tags } = entries[at] as Entry
    return { id, score, payload: payloadOf({ ...metadata, title, document: content, tags }) }
  })
}

const FROM_MEMORY =
  'Answered by words only, because the facts are not in this store; `querent c64 --embed` puts them there with their vectors.'

/** Converts a note of the query pipeline to warnings of this lens; none if the field `searchMode` already reports the fact. */
function warningOf({ code, message }: Note, isInStore: boolean): readonly SearchWarning[] {
  if (code === NO_TAG_MATCH) return []
  if (code === 'words_only' && !isInStore) return [{ code, message: FROM_MEMORY }]
  return [{ code: code === 'partly_embedded' ? 'vectors_pending' : code, message }]
}

async function askServer(host: LensHost, question: C64Question, call: CallContext): Promise<C64Answer> {
  const { settings, remote } = stateOf(host)
  const enrichment = await turnsUntil(call.signal).run(stateOf(host).enrich(question.query, question.raw))
  const search = await searchFor(
    enrichment.enrichedQuery,
    await remote(),
    settings,
    host.accessScope(call.viewer),
    call,
  )
  const { hits, mode } = await runSearch(enrichment, search, { ...settings, ...camelCased(question) })
  return {
    enrichment,
    searchMode: mode,
    backend: 'qdrant',
    results: hits,
    ...{ verdict: null, reason: 'A Qdrant server gives no verdict.', nearest: [], cursor: null },
    warnings: pluginWarnings(enrichment),
  }
}

export function pluginWarnings({ warnings }: Enrichment): readonly SearchWarning[] {
  return warnings.map(({ message }) => ({ code: 'plugin_failed', message }))
}
