/**
 * Which hashtag sits on which anchor, in step with every process on the store. A stamp in the store's meta is renewed with
 * each change; reading it costs microseconds, so it is read at every look-up and the table only when the stamp is another.
 * The store's version cannot be used: it does not change inside a transaction that is rolled back later.
 */

import { z } from 'zod'
import { must } from '../../../base/assert.ts'
import { sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Filter } from '../../../model/filter.ts'
import { LOCAL_OWNER } from '../../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { CamelCased } from '../../camel-name.ts'
import type { LensHost } from '../../lens.ts'
import {
  checkArgument,
  checkCamel,
  HashtagConflictError,
  invalidParameter,
  placed,
  StorageError,
  UnknownHashtagError,
  ValidationError,
} from '../errors.ts'
import { type Anchor, type Binding, ZONES, type Zone, zone as zoneInput } from '../model.ts'
import { HASHTAGS, NODES } from '../tables.ts'
import { ANCHORS, loadStack, normaliseHashtag, type Resolve, STACK, writeStack, ZONE_BOUNDS } from './stack.ts'
import { STARTER } from './starter.ts'

/** The anchor of a hashtag: a free one of a zone (in any letter case), one near an assigned hashtag, or this one. */
export const targetFields = {
  zone: zoneInput
    .optional()
    .describe(
      'Zone, in any letter case: the free anchor of it nearest in meaning. Default: that of `near`, or of the anchor',
    ),
  near: z
    .string()
    .optional()
    .describe(
      'Assigned hashtag: the free anchor nearest to it, in its zone or the one given. Default: its neighbours in meaning',
    ),
  anchor_id: z
    .int()
    .min(1)
    .max(ANCHORS)
    .optional()
    .describe(`Number of the anchor, 1 to ${ANCHORS}. Default: the free one that \`zone\` or \`near\` leads to`),
}
const target = z
  .strictObject(targetFields)
  .refine(({ zone, near, anchor_id }) => (zone === undefined && near === undefined) !== (anchor_id === undefined), {
    path: ['zone'],
    error: 'a zone, a hashtag to be near, or else an anchor id',
  })

/** A zone, `near` or both; or an anchor. */
export interface Target {
  readonly zone?: string | undefined
  readonly near?: string | undefined
  readonly anchorId?: number | undefined
}
type CheckedTarget = CamelCased<z.output<typeof target>>

/** Of a hashtag in its normal form the assigned hashtags nearest in meaning; none where that is not known. */
export type NeighboursOf = (hashtag: string) => readonly string[]
export interface ToPlace {
  readonly hashtag: string
  readonly byMeaning: boolean
}
const NO_NEIGHBOURS: NeighboursOf = () => []

export interface Assignment extends Target {
  readonly hashtag: string
  /** Of a file, from 1; reported in errors. */
  readonly line?: number | undefined
}
interface CheckedAssignment {
  readonly hashtag: string
  readonly target: CheckedTarget
}

export function checkTarget(given: unknown): CheckedTarget {
  const { near, ...place } = checkCamel(target, given, 'zone')
  return near === undefined ? place : { ...place, near: normaliseHashtag(near, 'near') }
}

export function checkAssignment(given: unknown): CheckedAssignment {
  if (typeof given !== 'object' || given === null)
    throw invalidParameter('assignments', given, 'a hashtag and its place')
  const { hashtag, line: _, ...place } = given as Assignment
  return { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(place) }
}

/** All bindings at one moment: whoever holds one sees the same throughout. */
export class BindingSet {
  protected readonly byHashtag: Map<string, Binding>
  protected readonly byAnchor: Map<number, Binding>

  /** Anchors exist and are distinct, and so are hashtags. */
  constructor(bindings: Iterable<Binding>) {
    const all = [...bindings]
    this.byHashtag = new Map(all.map(binding => [binding.hashtag, binding]))
    this.byAnchor = new Map(all.map(binding => [binding.anchor_id, binding]))
  }

  get size(): number {
    return this.byHashtag.size
  }

  /** Of a hashtag in its normal form; null when it is not assigned. */
  readonly resolve: Resolve = hashtag => this.byHashtag.get(hashtag) ?? null

  /** What sits on this anchor; null when it is free. */
  at(anchorId: number): Binding | null {
    return this.byAnchor.get(anchorId) ?? null
  }

  /** By ascending anchor. */
  list(zone?: Zone): readonly Binding[] {
    return (zone === undefined ? ZONES : [zone]).flatMap(one => {
      const { first, last } = ZONE_BOUNDS[one]
      const found: Binding[] = []
      for (let id = first; id <= last; id++) {
        const binding = this.byAnchor.get(id)
        if (binding !== undefined) found.push(binding)
      }
      return found
    })
  }

  values(): Iterable<Binding> {
    return this.byHashtag.values()
  }
}

/** The hashtag on this anchor, or undefined when there is no such anchor. */
export function bindingOf(hashtag: string, anchorId: number): Binding | undefined {
  const anchor = STACK.anchor(anchorId)
  if (anchor === undefined) return undefined
  const { id, zone, L, a, b, mass } = anchor
  return Object.freeze({ hashtag, anchor_id: id, zone, L, a, b, mass })
}

/** Bindings as they would be after a change: tried out here, then written in one transaction by `Bindings.change`. */
export class BindingDraft extends BindingSet {
  /** Anchors on which something else may sit now. */
  readonly changed: Set<number> = new Set()
  /** No anchor of the zone below this one is free. */
  readonly #firstFree = new Map<Zone, number>()
  readonly #neighboursOf: NeighboursOf

  constructor(bindings: Iterable<Binding>, neighboursOf: NeighboursOf = NO_NEIGHBOURS) {
    super(bindings)
    this.#neighboursOf = neighboursOf
  }

  /** The binding there is, when it already is as asked for. */
  assign({ hashtag, target }: CheckedAssignment): Binding {
    const held = this.resolve(hashtag)
    if (held === null) return this.bind(hashtag, this.placeFor(hashtag, target))
    if (isAt(held, target.near === undefined ? target : { zone: this.#zoneOf(target) })) return held
    throw new HashtagConflictError(
      'hashtag_assigned',
      `hashtag: ${hashtag} already sits on anchor ${held.anchor_id} (${held.zone}); moving it is a migration`,
      { hashtag, anchor_id: held.anchor_id, zone: held.zone },
    )
  }

  /**
   * The free anchor of the zone nearest to the hashtag it is to be near, or to the mean of its neighbours in meaning, the lowest where there are
   * none; or the anchor named. Throws `zone_full` and `anchor_occupied`.
   */
  placeFor(hashtag: string, target: CheckedTarget): number {
    const { near, anchorId } = target
    if (near === hashtag) throw invalidParameter('near', near, 'another hashtag')
    if (anchorId === undefined) {
      const zone = this.#zoneOf(target)
      const names = near === undefined ? this.#neighboursOf(hashtag) : [near]
      const neighbours = names.flatMap(name => this.resolve(name) ?? [])
      const free = neighbours.length === 0 ? this.#lowestFree(zone) : this.nearestFree(zone, meanOf(neighbours))
      if (free !== null) return free
      throw new ValidationError('zone_full', `zone: every anchor of the zone ${zone} is taken`, { zone })
    }
    const held = this.at(anchorId)
    if (held === null) return anchorId
    throw new HashtagConflictError(
      'anchor_occupied',
      `anchor_id: ${held.hashtag} already sits on anchor ${held.anchor_id}`,
      { anchor_id: held.anchor_id, hashtag: held.hashtag },
    )
  }

  /** The hashtag is not assigned, the anchor is free. */
  bind(hashtag: string, anchorId: number): Binding {
    const binding = must(bindingOf(hashtag, anchorId), `anchor ${anchorId}`)
    this.byHashtag.set(hashtag, binding)
    this.byAnchor.set(anchorId, binding)
    this.changed.add(anchorId)
    return binding
  }

  free({ hashtag, anchor_id }: Binding): void {
    this.byHashtag.delete(hashtag)
    this.byAnchor.delete(anchor_id)
    this.changed.add(anchor_id)
    this.#firstFree.clear()
  }

  /** Of those equally near the one with the lowest id; null: none is free. Looks at every anchor of the zone: some 20 microseconds. */
  nearestFree(zone: Zone, { L, a, b }: Pick<Binding, 'L' | 'a' | 'b'>): number | null {
    const { first, last } = ZONE_BOUNDS[zone]
    let nearest: number | null = null
    let least = Number.POSITIVE_INFINITY
    for (let id = first; id <= last; id++) {
      const anchor = STACK.anchors[id - 1] as Anchor
      const square = (anchor.L - L) ** 2 + (anchor.a - a) ** 2 + (anchor.b - b) ** 2
      if (square >= least || this.byAnchor.has(id)) continue
      least = square
      nearest = id
    }
    return nearest
  }

  /** Throws `unknown_hashtag` for a hashtag to be near that is not assigned. */
  #zoneOf({ zone, near }: CheckedTarget): Zone {
    if (near === undefined) return zone as Zone
    const binding = this.resolve(near)
    if (binding === null) throw new UnknownHashtagError([near])
    return zone ?? binding.zone
  }

  #lowestFree(zone: Zone): number | null {
    const { first, last } = ZONE_BOUNDS[zone]
    let id = this.#firstFree.get(zone) ?? first
    while (id <= last && this.byAnchor.has(id)) id++
    this.#firstFree.set(zone, id)
    return id <= last ? id : null
  }
}

/** Whether it is in the zone, or on the anchor. */
export function isAt(binding: Binding, { zone, anchorId }: CheckedTarget): boolean {
  return anchorId === undefined ? binding.zone === zone : binding.anchor_id === anchorId
}

function meanOf(bindings: readonly Binding[]): Pick<Binding, 'L' | 'a' | 'b'> {
  const mean = (of: 'L' | 'a' | 'b') => bindings.reduce((sum, one) => sum + one[of], 0) / bindings.length
  return { L: mean('L'), a: mean('a'), b: mean('b') }
}

/** Named text of the store that is another after each change of a binding. */
export const HASHTAG_STAMP = 'chroma_hashtags'

export class Bindings {
  readonly #host: LensHost
  #set = new BindingSet([])
  /** Of the set; undefined in a store that never had a binding. */
  #stamp: string | undefined

  constructor(host: LensHost) {
    this.#host = host
  }

  /** As the store has it now. For many look-ups that shall agree with each other, ask this once. */
  get current(): BindingSet {
    if (this.#host.store.meta(HASHTAG_STAMP) !== this.#stamp) {
      this.#host.store.read(reader => this.#adopt(readBindings(reader), reader.meta(HASHTAG_STAMP)))
    }
    return this.#set
  }

  /** In any spelling; null when it is not assigned. */
  resolve(hashtag: unknown): Binding | null {
    return this.current.resolve(normaliseHashtag(hashtag, 'hashtag'))
  }

  /** By ascending anchor. */
  list(zone?: string): readonly Binding[] {
    return this.current.list(zone === undefined ? undefined : checkArgument('zone', zoneInput, zone))
  }

  /** Puts a hashtag on an anchor of a zone, near another, or on a chosen one; as it is when it already is in that zone or on that anchor. */
  assign(hashtag: string, target: Target, neighboursOf?: NeighboursOf): Binding {
    const wanted = { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(target) }
    return must(this.#assignAll([wanted], draft => [draft.assign(wanted)], neighboursOf)[0], 'the binding')
  }

  /**
   * In order, all or none. An error has the index (and the line, if there is one) in its details.
   */
  assignMany(list: readonly Assignment[], neighboursOf?: NeighboursOf): readonly Binding[] {
    const { wanted, assign } = checked(list)
    return this.#assignAll(wanted, assign, neighboursOf)
  }

  /** In their normal form, in order, and which of them are to be placed by meaning: the new ones, or those that move. What is wrong is left to `assign`. */
  toPlace(list: readonly Assignment[], isMove = false): readonly ToPlace[] {
    const { current } = this
    return (Array.isArray(list) ? list : []).flatMap(given => {
      try {
        const { hashtag, target } = checkAssignment(given)
        const byMeaning = target.anchorId === undefined && target.near === undefined
        return [{ hashtag, byMeaning: byMeaning && (isMove || current.resolve(hashtag) === null) }]
      } catch {
        return []
      }
    })
  }

  /**
   * As `assignMany`, within a write that may be of another connection, and paused: only `set` has what is assigned, until `save` is called
   * and, after the commit, `adopt`. `requireEditor` is called where a hashtag of the list is not assigned yet.
   */
  assignIn(
    writer: StoreWriter,
    list: readonly Assignment[],
    requireEditor: () => void,
  ): { readonly set: BindingSet; save(): void; adopt(): void } {
    const { wanted, assign } = checked(list)
    const before = readBindings(writer)
    if (wanted.some(({ hashtag }) => before.resolve(hashtag) === null)) requireEditor()
    const draft = new BindingDraft(before.values())
    assign(draft)
    let written: Written | null = null
    return {
      set: draft.changed.size === 0 ? before : new BindingSet(draft.values()),
      save: () => {
        written = this.#save(draft, writer)
      },
      adopt: () => {
        if (written !== null) this.#adopt(written.set, written.stamp)
      },
    }
  }

  /** Frees the anchor. Only for the owner: a refusal reveals nodes that nobody else may know of. */
  unassign(hashtag: string): Binding {
    const tag = normaliseHashtag(hashtag, 'hashtag')
    return this.change((draft, writer) => {
      const binding = draft.resolve(tag)
      if (binding === null) throw new UnknownHashtagError([tag])
      const nodes = nodesCarrying(this.#host, writer, tag).length
      if (nodes > 0) {
        throw new HashtagConflictError('hashtag_in_use', `hashtag: ${nodes} nodes carry ${tag}`, {
          hashtag: tag,
          nodes,
        })
      }
      draft.free(binding)
      return binding
    })
  }

  /** One write transaction over the bindings and whatever depends on them. */
  change<T>(body: (draft: BindingDraft, writer: StoreWriter) => T, neighboursOf?: NeighboursOf): T {
    const { store, clock } = this.#host
    let written: Written | null = null
    const result = store.write(clock.now(), writer => {
      const draft = new BindingDraft(this.current.values(), neighboursOf)
      const done = body(draft, writer)
      written = this.#save(draft, writer)
      return done
    })
    const { set, stamp } = (written as Written | null) ?? {}
    if (set !== undefined) this.#adopt(set, stamp)
    return result
  }

  /** Null: nothing was changed. */
  #save(draft: BindingDraft, writer: StoreWriter): Written | null {
    if (draft.changed.size === 0) return null
    // Random, since a counter that was rolled back would be given out twice.
    const stamp = sha256(this.#host.random(16))
    writeBindings(writer, draft)
    writer.setMeta(HASHTAG_STAMP, stamp)
    return { set: new BindingSet(draft.values()), stamp }
  }

  /** Without a transaction when there is nothing to write, so that setting up again needs no lock. */
  #assignAll(
    wanted: readonly CheckedAssignment[],
    assign: (draft: BindingDraft) => readonly Binding[],
    neighboursOf?: NeighboursOf,
  ): readonly Binding[] {
    const { current } = this
    const held = wanted.map(({ hashtag }) => current.resolve(hashtag))
    if (held.includes(null)) return this.change(assign, neighboursOf)
    return assign(new BindingDraft(current.values()))
  }

  #adopt(set: BindingSet, stamp: string | undefined): void {
    this.#set = set
    this.#stamp = stamp
  }
}

interface Written {
  readonly set: BindingSet
  readonly stamp: string
}

function checked(list: readonly Assignment[]): {
  readonly wanted: readonly CheckedAssignment[]
  assign(draft: BindingDraft): readonly Binding[]
} {
  if (!Array.isArray(list)) throw invalidParameter('assignments', list, 'a list')
  const at = <T>(index: number, act: () => T): T => {
    try {
      return act()
    } catch (error) {
      const line = (list[index] as Assignment | null)?.line
      const place = line === undefined ? `assignments[${index}]` : `line ${line}`
      throw placed(error, place, line === undefined ? { index } : { index, line })
    }
  }
  const wanted = Array.from(list, (given, index) => at(index, () => checkAssignment(given)))
  return { wanted, assign: draft => wanted.map((one, index) => at(index, () => draft.assign(one))) }
}

function readBindings(reader: StoreReader): BindingSet {
  const rows = reader.table(HASHTAGS).scan()
  return new BindingSet(
    rows.map(({ anchor, hashtag }) => {
      const binding = bindingOf(String(hashtag), Number(anchor))
      if (binding !== undefined) return binding
      throw new StorageError('bindings_invalid', `the store binds ${hashtag} to an anchor that is not there: ${anchor}`)
    }),
  )
}

function writeBindings(writer: StoreWriter, draft: BindingDraft): void {
  const table = writer.table(HASHTAGS)
  for (const anchor of draft.changed) {
    const binding = draft.at(anchor)
    if (binding === null) table.delete({ anchor })
    else table.put({ anchor, hashtag: binding.hashtag })
  }
}

/**
 * The nodes that carry a hashtag, whoever holds them, ascending. Asked of the nodes' own column, not of the entries' tags, which others
 * may rewrite. Looks at every node: about a second for a million, and only for the rare change of a binding.
 */
export function nodesCarrying(host: LensHost, reader: StoreReader, hashtag: string): readonly EntryKey[] {
  const written: Filter = { op: 'contains', field: `${NODES.aspect}.hashtags`, text: JSON.stringify(hashtag) }
  const candidates = reader.matching(host.accessScope(LOCAL_OWNER), written)
  return [...candidates].filter(entry => hashtagsOf(reader, entry).includes(hashtag))
}

/** As stored, by ascending anchor of that time; none when the entry is no node. */
export function hashtagsOf(reader: StoreReader, entry: EntryKey): readonly string[] {
  const row = reader.table(NODES).get({ entry })
  return row === undefined ? [] : (JSON.parse(String(row['hashtags'])) as string[])
}

// Many hashtags at once, from a text: one a line, `#python core` or `#python 17`, hashtag and zone or anchor id parted by
// white space or a comma. As hashtags begin with `#` themselves, a comment is a `#` (or several) followed by white space or
// the end of the line; it may also stand behind an assignment. Empty lines are passed over.

/** Longer ones are no assignments; a hashtag has at most 100 characters. */
const MAX_LINE = 1000
const COMMENT = /(^|\s)#+(\s.*)?$/u
const DIGITS = /^[0-9]+$/

/** What the text asks for, ready for `assignMany`; throws `invalid_parameter` naming the first line that is wrong. */
export function loadVocabulary(text: unknown): readonly Assignment[] {
  if (typeof text !== 'string') throw invalidParameter('assignments', text, 'text')
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  return lines.flatMap((content, at) => {
    const line = at + 1
    try {
      return parseLine(content, line)
    } catch (error) {
      throw placed(error, `line ${line}`, { line })
    }
  })
}

/** What a text of assignments holds: a stack file in JSON, or a line each. */
export function assignmentsIn(text: string): readonly Assignment[] {
  return STACK_FILE.test(text) ? loadStack(text.trim()).assignments : loadVocabulary(text)
}

/** What begins as an object of JSON does is no list of hashtags. */
const STACK_FILE = /^\s*\{\s*"/

export const vocabularyForm = z.enum(['lines', 'stack'])

/** The bindings as a text that `assignmentsIn` reads: a line each with the anchor, or a stack file. */
export function vocabularyText(
  bindings: readonly Binding[],
  as: z.output<typeof vocabularyForm>,
  now: Instant,
): string {
  if (as === 'stack') return writeStack(bindings, now)
  return bindings.map(({ hashtag, anchor_id }) => `${hashtag} ${anchor_id}\n`).join('')
}

function parseLine(content: string, line: number): readonly Assignment[] {
  if (content.length > MAX_LINE) throw invalidParameter('assignments', content, 'a hashtag and its place')
  const said = content.replace(COMMENT, '').trim()
  if (said === '') return []
  // The last field is the place; whatever is before it, commas inside included, is the hashtag.
  const [, hashtag, place] = /^(.*?)[\s,]+([^\s,]+)$/u.exec(said) ?? []
  if (!hashtag || place === undefined) {
    throw invalidParameter('assignments', said, 'a hashtag, and a zone or an anchor id (a comment begins with "# ")')
  }
  const assignment = DIGITS.test(place) ? { hashtag, anchorId: Number(place), line } : { hashtag, zone: place, line }
  checkAssignment(assignment)
  return [assignment]
}

/** What a new user needs to store and to query at once, with the anchor of each. Core first, each zone in its own order. */
export function starterVocabulary(): readonly {
  readonly hashtag: string
  readonly zone: Zone
  readonly anchorId: number
}[] {
  return (Object.keys(STARTER) as Zone[]).flatMap(zone =>
    [...STARTER[zone].matchAll(/(\S+)=(\d+)/g)].map(([, word, id]) => ({
      hashtag: `#${word}`,
      zone,
      anchorId: Number(id),
    })),
  )
}

/**
 * Assigns what of the starter vocabulary is not assigned yet, and returns that. A hashtag whose anchor is taken gets the nearest free one of
 * its zone. Hashtags that sit elsewhere stay there; a zone that is full takes no more. Doing it again changes nothing.
 */
export function assignStarter(bindings: Bindings): readonly Binding[] {
  const isMissing = ({ hashtag }: { readonly hashtag: string }) => bindings.current.resolve(hashtag) === null
  if (!starterVocabulary().some(isMissing)) return []
  return bindings.change(draft =>
    starterVocabulary().flatMap(({ hashtag, zone, anchorId }) => {
      if (draft.resolve(hashtag) !== null) return []
      const id = draft.at(anchorId) === null ? anchorId : draft.nearestFree(zone, STACK.anchor(anchorId) as Anchor)
      return id === null ? [] : [draft.bind(hashtag, id)]
    }),
  )
}
