/**
 * A live query whose answer the query pipeline computes, for any lens. Nearly every change that the viewer may see can affect the answer,
 * because word and meaning scores depend on all visible entries; changes of hidden entries cannot.
 */
import { canonicalJson, type Json, type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { Recent } from '../../base/recent.ts'
import { type Chunk, chunkText, type Entry, type EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import { type Filter, LINKED, matches } from '../../model/filter.ts'
import {
  type LiveHandlers,
  type LiveItem,
  type LiveName,
  type LiveQuery,
  type LiveState,
  partWatchInput,
  type Subscription,
  type WatchInput,
} from '../../model/live.ts'
import type { CallContext } from '../../model/operation.ts'
import type { Item, Page } from '../../model/page.ts'
import type { QueryInput } from '../../model/query-input.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import { DEFAULT_LENS_STAGES } from '../../pipeline/default-stages.ts'
import { isTracked } from '../../pipeline/memo.ts'
import { RecentChanges } from '../../pipeline/recent-changes.ts'
import type { Plan } from '../../pipeline/stage.ts'
import type { Change } from '../../store/store.ts'
import type { Asking } from '../asking.ts'
import type { Parts } from '../parts.ts'
import { LocalLiveQueries } from './live-queries.ts'

/**
 * Interval in milliseconds at which the answer to a query with a sliding time window (`updated:<7d`) is checked for changes caused by time.
 */
const SLIDING_MS = 60_000
const DAY_MS = 24 * 60 * 60_000
/** Maximum number of changed entries in the cache that all live queries share; an entry takes some kilobytes. */
const MAX_CHANGED = 256
/**
 * Properties of an item whose changes do not count as an update of the item. Live events report some of them in fields of their own (such
 * as the rank); the others depend on other items or on the time.
 */
const NOT_OF_VERSION = ['passage', 'rank', 'score', 'components', 'excerpt', 'passages', 'why', 'explanation']
const FIELDS = ['title', 'collection', 'kind', 'tags', 'metadata', 'origin', 'updated_at'] as const

/** Makes subscriptions to queries that the query pipeline answers, and holds what they share. */
export class PipelineLive {
  readonly live: LocalLiveQueries
  readonly parts: Parts
  readonly asking: Asking
  /**
   * Cache of changed entries by number of the change in the feed, so that an entry is read only once, however many live queries check it;
   * null: the entry was deleted.
   */
  readonly #changed = new Recent<number, Entry | null>(MAX_CHANGED)
  #changes: RecentChanges | null = null

  constructor(parts: Parts, asking: Asking) {
    const { store, clock, random } = parts
    this.parts = parts
    this.asking = asking
    this.live = new LocalLiveQueries({ store, clock, random, secret: () => asking.secret() }, parts.live)
  }

  /** The latest changes of the store's change feed, kept in memory and read once for all live queries. */
  get changes(): RecentChanges {
    this.#changes ??= new RecentChanges(this.parts.store)
    return this.#changes
  }

  /** The entry that a change concerns, in its present state, which may be later than the change; null if it was deleted. */
  entryOf({ seq, entry }: Change): Entry | null {
    return this.#changed.get(seq, () => this.parts.store.entry(entry) ?? null)
  }

  async subscribe(input: WatchInput, handlers: LiveHandlers, call: CallContext): Promise<Subscription> {
    const { query, options } = partWatchInput(input)
    return this.live.subscribe(new PipelineQuery(query, call, this), options, handlers, call.signal)
  }
}

class PipelineQuery implements LiveQuery {
  readonly viewer: Viewer
  readonly binding: string
  readonly query: JsonObject
  readonly timeoutMs: number
  readonly allowed: () => boolean
  readonly #input: QueryInput
  readonly #parts: PipelineLive
  /** How the time conditions of the query depend on the present time: not at all, by calendar day, or at every moment. */
  readonly #window: 'fixed' | 'by day' | 'sliding'
  /**
   * The filter that alone decides which entries the answer contains; null if the answer also depends on other things, such as the words of
   * the query.
   */
  readonly #conditions: Filter | null
  /**
   * Whether the query uses only the standard pipeline stages, without diversification of results; only then is it known which changes can
   * affect its answer.
   */
  readonly #isPlain: boolean
  /** How the last answer was found (by words, by vectors or both); null: there was none yet. */
  #mode: Page['mode'] | null = null
  #entries: ReadonlySet<EntryKey> = new Set()
  #entryOf: ReadonlyMap<string, EntryKey> = new Map()
  #asking: Asking
  #position: number
  #accessScope: AccessScope

  /** Throws the errors that running the query would throw about its input, such as `query_syntax` or `unknown_lens`. */
  constructor(input: QueryInput, { viewer, isStillAllowed = () => true }: CallContext, live: PipelineLive) {
    const { registry, defaultLens, clock } = live.parts
    this.viewer = viewer
    this.allowed = isStillAllowed
    this.#parts = live
    this.#asking = live.asking
    // Personal memory, which ranks entries by what the viewer has read, is off unless requested: otherwise reading entries elsewhere would
    // change ranks in the answer without an event to explain it.
    this.#input = { ...input, memory: input.memory ?? false }
    // Removes fields with the value undefined, because JSON, in which the query is stored, does not have that value.
    this.query = JSON.parse(JSON.stringify(this.#input)) as JsonObject
    this.binding = canonicalJson({ lens: defaultLens, ...this.query })
    this.timeoutMs = live.asking.resolve(input, { viewer }).timeoutMs
    const { stages } = registry.must(input.lens ?? defaultLens)
    this.#isPlain = (stages === undefined || stages === DEFAULT_LENS_STAGES) && (input.diversity ?? 1) >= 1
    const now = clock.now()
    const { parsed } = this.#parsedAt(now)
    const [here, soon, tomorrow] = [now, now + 1, now + DAY_MS].map(at => this.#parsedAt(at).filter)
    const isHere = (other: Filter | null | undefined) => canonicalJson(other as Json) === canonicalJson(here as Json)
    this.#window = input.as_of !== undefined || isHere(tomorrow) ? 'fixed' : isHere(soon) ? 'by day' : 'sliding'
    // A filter on links depends on more than the entry itself: which entries are linked also depends on changes of other entries.
    const isLinked = parsed.fields.some(({ field }) => field === LINKED)
    this.#conditions = this.#window === 'fixed' && here && isTracked(here) && !isLinked ? here : null
    this.#position = live.changes.position()
    this.#accessScope = live.asking.look(viewer)
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    const { asking, changes } = this.#parts
    // The position in the change feed is taken before the query begins. A commit during the query may or may not be in the answer, so its
    // changes are checked again afterwards.
    this.#position = changes.position()
    this.#accessScope = asking.look(this.viewer)
    const call = { viewer: this.viewer, signal }
    this.#asking = await asking.for(this.#input, call)
    const { answer, asOf, nextBound } = await this.#asking.standing(this.#input, call)
    this.#mustBeWhole(answer.page)
    this.#mode = answer.page.mode
    this.#entries = new Set(answer.entries.map(({ key }) => key))
    return {
      items: this.#itemsOf(answer.page.items, answer.entries),
      full: answer.cursor !== null,
      asOf,
      until: Math.min(nextBound, this.#endOfWindow(asOf)),
    }
  }

  concerned(): boolean {
    const { asking, changes } = this.#parts
    const before = this.#accessScope.partitions
    const news = changes.since(this.#position)
    this.#accessScope = asking.look(this.viewer)
    this.#position = changes.position()
    const now = this.#accessScope.partitions
    if (news === null || before.length !== now.length || before.some((id, at) => id !== now[at])) return true
    const partitions = new Set(now)
    return news.some(change => {
      const { partition, from } = change
      return (partitions.has(partition) || (from !== null && partitions.has(from))) && this.#affects(change)
    })
  }

  lost(items: readonly LiveName[]): readonly string[] {
    const { partitions } = this.#asking.look(this.viewer)
    return this.#asking.store.read(reader => {
      const known = new Set(items.flatMap(({ key }) => this.#entryOf.get(key) ?? []))
      const where = new Map(
        reader.entries([...known]).map(({ audience, id, partition }) => [keyOf(audience.holder, id), partition]),
      )
      const isThere = ({ key, id, passage }: LiveName) => {
        const ofEntry = passage === undefined ? key : key.slice(`${passage}\n`.length)
        const partition = where.get(ofEntry)
        if (partition !== undefined) return partitions.includes(partition)
        return reader.identities(reader.find(id, partitions)).some(found => keyOf(found.holder, found.id) === ofEntry)
      }
      return items.filter(item => !isThere(item)).map(({ key }) => key)
    })
  }

  /**
   * Whether a change of an entry that the viewer may see could have changed the last answer. Returns false only if that is impossible: for
   * new vectors if the query is answered by words alone, and for an entry that neither is in the answer nor matches the filter of a list.
   */
  #affects(change: Change): boolean {
    const isVector = change.kind === 'vectors'
    if (!this.#isPlain) return true
    if (this.#mode === 'words' && this.#input.mode === 'words') return !isVector
    if (this.#mode !== 'list' || this.#conditions === null) return true
    if (isVector || this.#entries.has(change.entry)) return !isVector
    // A changed entry that was not in the last answer matters only if it now matches the query's filter.
    const entry = this.#parts.entryOf(change)
    return entry !== null && matches(this.#conditions, { entry, access: null, aspect: () => null })
  }

  #mustBeWhole({ coverage, notes }: Page): void {
    const has = (code: string) => notes.some(note => note.code === code)
    if (!coverage.complete || has('meaning_late')) {
      const details = { timeout_ms: this.timeoutMs }
      throw new QuerentError('deadline_exceeded', `the answer was not complete after ${this.timeoutMs} ms`, details)
    }
    const hadMeaning = this.#mode === 'hybrid' || this.#mode === 'meaning'
    if (hadMeaning && has('words_only')) {
      throw new QuerentError('embedder_failed', 'the query would now be answered by words only, unlike before')
    }
  }

  #itemsOf(items: readonly Item[], entries: readonly Entry[]): readonly LiveItem[] {
    const known = new Map<string, EntryKey>()
    const found = items.flatMap((item, at) => {
      const entry = entries[at]
      const { passage } = item
      const chunk = passage === undefined ? null : entry && this.#asking.store.chunksOf(entry.key)[passage - 1]
      if (entry === undefined || chunk === undefined) return []
      const live = liveItem(item, entry, chunk)
      known.set(live.key, entry.key)
      return [live]
    })
    this.#entryOf = known
    return found
  }

  #parsedAt(at: Instant): Pick<Plan, 'filter' | 'parsed'> {
    const call = { viewer: this.viewer, signal: new AbortController().signal }
    return this.#parts.asking.conditions(this.#input, at, call)
  }

  #endOfWindow(asOf: Instant): Instant {
    if (this.#window === 'fixed') return Number.POSITIVE_INFINITY
    const midnight = (Math.floor(asOf / DAY_MS) + 1) * DAY_MS
    return this.#window === 'sliding' ? Math.min(asOf + SLIDING_MS, midnight) : midnight
  }
}

/** Converts an item of a page to the form of live events. `chunk`: the passage that the item shows; null: the item is a whole entry. */
function liveItem(item: Item, entry: Entry, chunk: Chunk | null): LiveItem {
  const shown = item as unknown as JsonObject
  // `updated_at` changes with every change of the entry, so it is left out of a passage's version: only a change of the passage's own text
  // counts as its update.
  const isVersioned = (name: string) => !NOT_OF_VERSION.includes(name) && (chunk === null || name !== 'updated_at')
  const versioned = Object.entries(shown).filter(([name]) => isVersioned(name))
  const fields = FIELDS.map(name => [name, canonicalJson(shown[name] as Json)] as const)
  const { passage } = item
  const key = keyOf(entry.audience.holder, entry.id)
  const text = chunk && canonicalJson([chunkText(entry, chunk), chunk.startLine, chunk.endLine])
  const content = text === null ? entry.contentHash : sha256(text)
  return {
    key: passage === undefined ? key : `${passage}\n${key}`,
    id: item.id,
    passage,
    version: sha256(canonicalJson({ ...Object.fromEntries(versioned), content })),
    score: item.score,
    // The field `standing`, whose change would cause an event of its own, stays empty: in this ranking every added or removed text changes
    // all scores a little, so a score is reported only with a change of rank.
    standing: '',
    since: entry.knownAt,
    rank: item.rank,
    shown,
    fields: { ...Object.fromEntries(fields), content },
  }
}

function keyOf(holder: string, id: string): string {
  return `${holder}\n${id}`
}
