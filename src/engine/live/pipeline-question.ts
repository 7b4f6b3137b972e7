/**
 * Any question through the pipeline as one that stands: whichever lens answers it. Nearly every visible change concerns it,
 * for each may move what words and meaning weigh (`reach.ts`); what lies out of sight does not.
 */

import { canonicalJson, type Json, type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { type Chunk, chunkText, type Entry, type EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Filter } from '../../model/filter.ts'
import type {
  LiveHandlers,
  LiveItem,
  LiveName,
  LiveQueries,
  LiveState,
  StandingQuestion,
  Subscription,
} from '../../model/live.ts'
import { partWatchInput, type WatchInput } from '../../model/live-input.ts'
import type { CallContext } from '../../model/operation.ts'
import type { Item, Page } from '../../model/page.ts'
import type { QueryInput } from '../../model/query-input.ts'
import type { Sight, Viewer } from '../../model/viewer.ts'
import { DEFAULT_LENS_STAGES } from '../../pipeline/default-stages.ts'
import { RecentChanges } from '../../pipeline/recent-changes.ts'
import type { Asking } from '../asking.ts'
import type { Parts } from '../parts.ts'
import { LocalLiveQueries } from './live-queries.ts'
import { type Answered, ChangedEntries, Reach } from './reach.ts'

/** A window that slides with time (`updated:<7d`) is looked at so often. */
const SLIDING_MS = 60_000
const DAY_MS = 24 * 60 * 60_000
/** Of a page's item: what has its own place in events, or follows from the others' and from time. */
const NOT_OF_VERSION = ['passage', 'rank', 'score', 'components', 'excerpt', 'passages', 'why', 'explanation']
const FIELDS = ['title', 'collection', 'kind', 'tags', 'metadata', 'origin', 'updated_at'] as const

export interface PipelineQuestionParts {
  readonly asking: Asking
  readonly clock: Clock
  readonly changes: RecentChanges
  readonly changed: ChangedEntries
  /** The lens that answers when none is named. */
  readonly defaultLens: string
  /** Whether that lens has no stages but the default ones, so that it is known what its answers rest on. */
  isPlain(lens: string): boolean
  /** Whether the viewer may still ask. Read now. */
  isAllowed(): boolean
}

type Windows = 'fixed' | 'by day' | 'sliding'

export class PipelineQuestion implements StandingQuestion {
  readonly viewer: Viewer
  readonly binding: string
  readonly query: JsonObject
  readonly timeoutMs: number
  readonly #input: QueryInput
  readonly #parts: PipelineQuestionParts
  readonly #windows: Windows
  /** Null: nothing is known of what its answers rest on. */
  readonly #reach: Reach | null
  #answered: Answered | null = null
  /** What gave the last answer. */
  #asking: Asking
  /** Of the last answer, by the keys of its items. */
  #entries: ReadonlyMap<string, EntryKey> = new Map()
  #position: number
  #sight: Sight
  /** Whether meaning had a part in the last answer. */
  #hadMeaning = false

  /** Throws what asking throws of the input: `query_syntax`, `unknown_lens`, … */
  constructor(input: QueryInput, viewer: Viewer, parts: PipelineQuestionParts) {
    this.viewer = viewer
    this.#parts = parts
    this.#asking = parts.asking
    // Else what the viewer reads elsewhere would move ranks, of which no event tells.
    this.#input = { ...input, memory: input.memory ?? false }
    // Fields may be present and undefined, which JSON does not have.
    this.query = JSON.parse(JSON.stringify(this.#input)) as JsonObject
    this.binding = canonicalJson({ lens: parts.defaultLens, ...this.query })
    this.timeoutMs = parts.asking.resolve(input, { viewer }).timeoutMs
    this.#windows = this.#windowsOf()
    const isFixed = this.#windows === 'fixed'
    const conditions = isFixed ? this.#conditionsAt(parts.clock.now()) : null
    const isPlain = parts.isPlain(input.lens ?? parts.defaultLens)
    this.#reach = isPlain ? new Reach(this.#input, conditions, parts.changed) : null
    this.#position = parts.changes.position()
    this.#sight = parts.asking.look(viewer)
  }

  allowed(): boolean {
    return this.#parts.isAllowed()
  }

  async ask(signal: AbortSignal): Promise<LiveState> {
    const { asking, changes } = this.#parts
    // From before it begins: what is committed meanwhile may or may not be in the answer.
    this.#position = changes.position()
    this.#sight = asking.look(this.viewer)
    const call = { viewer: this.viewer, signal }
    this.#asking = await asking.for(this.#input, call)
    const { answer, asOf, nextBound } = await this.#asking.standing(this.#input, call)
    this.#mustBeWhole(answer.page)
    this.#answered = { mode: answer.page.mode, entries: new Set(answer.entries.map(({ key }) => key)) }
    return {
      items: this.#itemsOf(answer.page.items, answer.entries),
      full: answer.cursor !== null,
      asOf,
      until: Math.min(nextBound, this.#endOfWindow(asOf)),
    }
  }

  concerned(): boolean {
    const { asking, changes } = this.#parts
    const before = this.#sight
    const news = changes.since(this.#position)
    this.#sight = asking.look(this.viewer)
    this.#position = changes.position()
    if (news === null || !isSame(before, this.#sight)) return true
    const partitions = new Set(this.#sight.partitions)
    return news.some(change => {
      const { partition, from } = change
      const isSeen = partitions.has(partition) || (from !== null && partitions.has(from))
      return isSeen && (this.#reach === null || this.#answered === null || this.#reach.includes(change, this.#answered))
    })
  }

  lost(items: readonly LiveName[]): readonly string[] {
    const { partitions } = this.#asking.look(this.viewer)
    return this.#asking.store.read(reader => {
      const known = items.flatMap(({ key }) => this.#entries.get(key) ?? [])
      const where = new Map(reader.entries([...new Set(known)]).map(entry => [keyOfEntry(entry), entry.partition]))
      const isThere = ({ key, id, passage }: LiveName) => {
        const ofEntry = passage === undefined ? key : key.slice(`${passage}\n`.length)
        const partition = where.get(ofEntry)
        if (partition !== undefined) return partitions.includes(partition)
        return reader.identities(reader.find(id, partitions)).some(found => keyOf(found) === ofEntry)
      }
      return items.filter(item => !isThere(item)).map(({ key }) => key)
    })
  }

  #mustBeWhole({ coverage, notes, mode }: Page): void {
    const has = (code: string) => notes.some(note => note.code === code)
    if (!coverage.complete || has('meaning_late')) {
      const details = { timeout_ms: this.timeoutMs }
      throw new QuerentError('deadline_exceeded', `the answer was not whole after ${this.timeoutMs} ms`, details)
    }
    if (this.#hadMeaning && has('words_only')) {
      throw new QuerentError('embedder_failed', 'words alone would answer at the moment, other than before')
    }
    this.#hadMeaning = mode === 'hybrid' || mode === 'meaning'
  }

  #itemsOf(items: readonly Item[], entries: readonly Entry[]): readonly LiveItem[] {
    const { store } = this.#asking
    const found: LiveItem[] = []
    const known = new Map<string, EntryKey>()
    for (const [at, item] of items.entries()) {
      const entry = entries[at]
      const { passage } = item
      const chunk = passage === undefined ? null : entry && store.chunksOf(entry.key)[passage - 1]
      if (entry === undefined || chunk === undefined) continue
      const live = liveItem(item, entry, chunk)
      known.set(live.key, entry.key)
      found.push(live)
    }
    this.#entries = known
    return found
  }

  #windowsOf(): Windows {
    if (this.#input.as_of !== undefined) return 'fixed'
    const now = this.#parts.clock.now()
    const [here, soon, tomorrow] = [now, now + 1, now + DAY_MS].map(at => canonicalJson(this.#conditionsAt(at) as Json))
    if (here === tomorrow) return 'fixed'
    return here === soon ? 'by day' : 'sliding'
  }

  #conditionsAt(at: Instant): Filter | null {
    const call = { viewer: this.viewer, signal: new AbortController().signal }
    return this.#parts.asking.conditions(this.#input, at, call)
  }

  #endOfWindow(asOf: Instant): Instant {
    if (this.#windows === 'fixed') return Number.POSITIVE_INFINITY
    const midnight = (Math.floor(asOf / DAY_MS) + 1) * DAY_MS
    return this.#windows === 'sliding' ? Math.min(asOf + SLIDING_MS, midnight) : midnight
  }
}

/** `chunk`: the passage that it is; null: it is the whole entry. */
function liveItem(item: Item, entry: Entry, chunk: Chunk | null): LiveItem {
  const shown = item as unknown as JsonObject
  // Every change of the entry moves that moment; of a passage its own text decides.
  const isVersioned = (name: string) => !NOT_OF_VERSION.includes(name) && (chunk === null || name !== 'updated_at')
  const versioned = Object.entries(shown).filter(([name]) => isVersioned(name))
  const fields = FIELDS.map(name => [name, canonicalJson(shown[name] as Json)] as const)
  const { passage } = item
  const content =
    chunk === null
      ? entry.contentHash
      : sha256(canonicalJson([chunkText(entry, chunk), chunk.startLine, chunk.endLine]))
  return {
    key: passage === undefined ? keyOfEntry(entry) : `${passage}\n${keyOfEntry(entry)}`,
    id: item.id,
    passage,
    version: sha256(canonicalJson({ ...Object.fromEntries(versioned), content })),
    score: item.score,
    // Every text that comes or goes moves all scores a little: told with what it leads to, never by itself.
    standing: '',
    since: entry.knownAt,
    rank: item.rank,
    shown,
    fields: { ...Object.fromEntries(fields), content },
  }
}

function keyOfEntry({ audience, id }: Pick<Entry, 'audience' | 'id'>): string {
  return keyOf({ holder: audience.holder, id })
}

function keyOf({ holder, id }: { readonly holder: string; readonly id: string }): string {
  return `${holder}\n${id}`
}

function isSame(one: Sight, other: Sight): boolean {
  const { partitions } = other
  return one.partitions.length === partitions.length && one.partitions.every((id, at) => id === partitions[at])
}

/** Watching what the pipeline answers: makes standing questions of queries and hands them to the live queries of the engine. */
export class StandingQuestions {
  readonly #parts: Parts
  readonly #asking: Asking
  readonly #live: LocalLiveQueries
  readonly #changed: ChangedEntries
  #changes: RecentChanges | null = null

  constructor(parts: Parts, asking: Asking) {
    this.#parts = parts
    this.#asking = asking
    const { store, clock, random } = parts
    this.#changed = new ChangedEntries(store)
    this.#live = new LocalLiveQueries({ store, clock, random, secret: () => asking.secret() }, parts.live)
  }

  get live(): LiveQueries {
    return this.#live
  }

  async subscribe(input: WatchInput, handlers: LiveHandlers, call: CallContext): Promise<Subscription> {
    const { store, clock, defaultLens, registry } = this.#parts
    this.#changes ??= new RecentChanges(store)
    const { query, options } = partWatchInput(input)
    const question = new PipelineQuestion(query, call.viewer, {
      asking: this.#asking,
      clock,
      changes: this.#changes,
      changed: this.#changed,
      defaultLens,
      isPlain: lens => {
        const { stages } = registry.must(lens)
        return stages === undefined || stages === DEFAULT_LENS_STAGES
      },
      isAllowed: call.isStillAllowed ?? (() => true),
    })
    return subscribeUntil(call.signal, handlers, own => this.#live.subscribe(question, options, own, call.signal))
  }

  close(): void {
    this.#live.close()
  }
}

/** The signal ends the subscription, and is left alone when it has ended otherwise. */
async function subscribeUntil(
  signal: AbortSignal,
  handlers: LiveHandlers,
  subscribe: (handlers: LiveHandlers) => Promise<Subscription>,
): Promise<Subscription> {
  let stop = () => {}
  const subscription = await subscribe({
    wanted: () => handlers.wanted?.() ?? null,
    onEvent: event => handlers.onEvent(event),
    ...(handlers.onToken && { onToken: token => handlers.onToken?.(token) }),
    onError: error => handlers.onError?.(error),
    onEnd: why => {
      signal.removeEventListener('abort', stop)
      handlers.onEnd?.(why)
    },
  })
  stop = () => subscription.cancel()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return subscription
}
