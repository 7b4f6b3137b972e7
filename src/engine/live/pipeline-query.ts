/**
 * A watched query that runs through the pipeline, for any lens. Nearly every visible change may affect it, because word and meaning scores
 * depend on all visible entries; entries that the viewer may not see do not affect it.
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

/** Interval in milliseconds at which a query with a sliding time window (`updated:<7d`) is checked. */
const SLIDING_MS = 60_000
const DAY_MS = 24 * 60 * 60_000
/** Maximum number of changed entries in the cache, some kilobytes each. */
const MAX_CHANGED = 256
/**
 * Properties of a page item that do not belong to its version: they have their own field in events, or follow from other items and from
 * time.
 */
const NOT_OF_VERSION = ['passage', 'rank', 'score', 'components', 'excerpt', 'passages', 'why', 'explanation']
const FIELDS = ['title', 'collection', 'kind', 'tags', 'metadata', 'origin', 'updated_at'] as const

/** Makes subscriptions to queries that the pipeline answers. */
export class PipelineLive {
  readonly live: LocalLiveQueries
  readonly parts: Parts
  readonly asking: Asking
  /** Entries in their present state, by number of the change: each is read only once, however many queries are watched. */
  readonly #changed = new Recent<number, Entry | null>(MAX_CHANGED)
  #changes: RecentChanges | null = null

  constructor(parts: Parts, asking: Asking) {
    const { store, clock, random } = parts
    this.parts = parts
    this.asking = asking
    this.live = new LocalLiveQueries({ store, clock, random, secret: () => asking.secret() }, parts.live)
  }

  /** Recent changes of the feed, in memory; read once for all subscriptions. */
  get changes(): RecentChanges {
    this.#changes ??= new RecentChanges(this.parts.store)
    return this.#changes
  }

  /** The entry after the change or in a later state, which then has a later change; null if it was deleted. */
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
  /** How the query's conditions depend on the passing of time. */
  readonly #window: 'fixed' | 'by day' | 'sliding'
  /** The filter of a list that decides alone which entries it contains; null if other things decide too. */
  readonly #conditions: Filter | null
  /** Whether the lens uses only the default stages, so that it is known what its answers depend on. */
  readonly #isPlain: boolean
  /** Mode of the last answer. */
  #mode: Page['mode'] | null = null
  #entries: ReadonlySet<EntryKey> = new Set()
  #entryOf: ReadonlyMap<string, EntryKey> = new Map()
  #asking: Asking
  #position: number
  #accessScope: AccessScope

  /** Throws the errors of `query` about the input: `query_syntax`, `unknown_lens`, … */
  constructor(input: QueryInput, { viewer, isStillAllowed = () => true }: CallContext, live: PipelineLive) {
    const { registry, defaultLens, clock } = live.parts
    this.viewer = viewer
    this.allowed = isStillAllowed
    this.#parts = live
    this.#asking = live.asking
    // Memory is off by default: otherwise, what the viewer reads elsewhere would change ranks without an event.
    this.#input = { ...input, memory: input.memory ?? false }
    // Removes fields that are present but undefined, which JSON does not have.
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
    // Which entries are linked depends on changes of other entries too.
    const isLinked = parsed.fields.some(({ field }) => field === LINKED)
    this.#conditions = this.#window === 'fixed' && here && isTracked(here) && !isLinked ? here : null
    this.#position = live.changes.position()
    this.#accessScope = live.asking.look(viewer)
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    const { asking, changes } = this.#parts
    // The position from before the query begins: a commit during the query may or may not be in the answer.
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
   * Whether a visible change may have changed the last answer; false is certain. Excluded are vectors if the query is by words, and entries
   * that do not match the filter of a list.
   */
  #affects(change: Change): boolean {
    const isVector = change.kind === 'vectors'
    if (!this.#isPlain) return true
    if (this.#mode === 'words' && this.#input.mode === 'words') return !isVector
    if (this.#mode !== 'list' || this.#conditions === null) return true
    if (isVector || this.#entries.has(change.entry)) return !isVector
    // An entry that was not in the answer matters only if it matches the filter in its present state.
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

/** An item of a page in the form for events. `chunk`: the passage of the item; null: the item is the whole entry. */
function liveItem(item: Item, entry: Entry, chunk: Chunk | null): LiveItem {
  const shown = item as unknown as JsonObject
  // `updated_at` changes with every change of the entry, so it does not count for a passage: only the passage's own text does.
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
    // `standing` is empty, because every text that is added or removed changes all scores a little: scores are reported only with the
    // changes of rank that they cause.
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
