/**
 * Which hashtag is bound to which anchor, in step with every process that uses the store. A random stamp in the store's meta changes with
 * each write; reading it takes microseconds, so each look-up reads it, and the table only when the stamp differs. The store's version
 * cannot be used: it does not change inside a transaction that is rolled back later.
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

/**
 * Input fields that say where a hashtag goes: to a free anchor of a zone (in any letter case), to one near an assigned hashtag, or to a
 * given anchor.
 */
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

/** Where a hashtag goes: a zone, `near` or both; or an anchor. */
export interface Target {
  readonly zone?: string | undefined
  readonly near?: string | undefined
  readonly anchorId?: number | undefined
}
type CheckedTarget = CamelCased<z.output<typeof target>>

/** For a hashtag in its normal form, the assigned hashtags nearest in meaning; none where meaning is not available. */
export type NeighboursOf = (hashtag: string) => readonly string[]
export interface ToPlace {
  readonly hashtag: string
  readonly byMeaning: boolean
}
const NO_NEIGHBOURS: NeighboursOf = () => []

export interface Assignment extends Target {
  readonly hashtag: string
  /** Line of the file, from 1; reported in errors. */
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

/** All bindings at one moment: the set does not change, so one reader sees the same bindings throughout. */
export class BindingSet {
  protected readonly byHashtag: Map<string, Binding>
  protected readonly byAnchor: Map<number, Binding>

  /** Requires that anchors exist, and that anchors and hashtags are distinct. */
  constructor(bindings: Iterable<Binding>) {
    const all = [...bindings]
    this.byHashtag = new Map(all.map(binding => [binding.hashtag, binding]))
    this.byAnchor = new Map(all.map(binding => [binding.anchor_id, binding]))
  }

  get size(): number {
    return this.byHashtag.size
  }

  /** The binding of a hashtag in its normal form; null when it is not assigned. */
  readonly resolve: Resolve = hashtag => this.byHashtag.get(hashtag) ?? null

  /** The binding on this anchor; null when the anchor is free. */
  at(anchorId: number): Binding | null {
    return this.byAnchor.get(anchorId) ?? null
  }

  /** Bindings by ascending anchor id. */
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

/** The binding of this hashtag to this anchor, or undefined when there is no such anchor. */
export function bindingOf(hashtag: string, anchorId: number): Binding | undefined {
  const anchor = STACK.anchor(anchorId)
  if (anchor === undefined) return undefined
  const { id, zone, L, a, b, mass } = anchor
  return Object.freeze({ hashtag, anchor_id: id, zone, L, a, b, mass })
}

/** Bindings as they would be after a change: tried out here, then written in one transaction by `Bindings.change`. */
export class BindingDraft extends BindingSet {
  /** Anchors whose binding differs from the stored one. */
  readonly changed: Set<number> = new Set()
  /** By zone, an anchor id below which no anchor of the zone is free. */
  readonly #firstFree = new Map<Zone, number>()
  readonly #neighboursOf: NeighboursOf

  constructor(bindings: Iterable<Binding>, neighboursOf: NeighboursOf = NO_NEIGHBOURS) {
    super(bindings)
    this.#neighboursOf = neighboursOf
  }

  /** Assigns the hashtag and returns its binding; unchanged when it is at the target already. */
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
   * The anchor for a hashtag: the one the target names, else the free anchor of the zone nearest to the hashtag given as `near`, or to the
   * mean of its neighbours in meaning; without neighbours, the free anchor with the lowest id. Throws `zone_full` and `anchor_occupied`.
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

  /** Binds a hashtag to an anchor. Requires that the hashtag is not assigned and the anchor is free. */
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

  /**
   * The free anchor of a zone nearest to a colour; of equally near ones the one with the lowest id; null when none is free. Looks at every
   * anchor of the zone: some 20 microseconds.
   */
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

  /** The zone of a target. Throws `unknown_hashtag` when the hashtag given as `near` is not assigned. */
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

/** Whether the binding is in the target's zone, or on its anchor. */
export function isAt(binding: Binding, { zone, anchorId }: CheckedTarget): boolean {
  return anchorId === undefined ? binding.zone === zone : binding.anchor_id === anchorId
}

function meanOf(bindings: readonly Binding[]): Pick<Binding, 'L' | 'a' | 'b'> {
  const mean = (of: 'L' | 'a' | 'b') => bindings.reduce((sum, one) => sum + one[of], 0) / bindings.length
  return { L: mean('L'), a: mean('a'), b: mean('b') }
}

/** Name of the store's meta text that changes with each change of a binding. */
export const HASHTAG_STAMP = 'chroma_hashtags'

export class Bindings {
  readonly #host: LensHost
  #set = new BindingSet([])
  /** Stamp of the bindings in memory; undefined in a store that never had a binding. */
  #stamp: string | undefined

  constructor(host: LensHost) {
    this.#host = host
  }

  /** The bindings that the store has now. For several look-ups that must agree with each other, read this once. */
  get current(): BindingSet {
    if (this.#host.store.meta(HASHTAG_STAMP) !== this.#stamp) {
      this.#host.store.read(reader => this.#adopt(readBindings(reader), reader.meta(HASHTAG_STAMP)))
    }
    return this.#set
  }

  /** The binding of a hashtag in any spelling; null when it is not assigned. */
  resolve(hashtag: unknown): Binding | null {
    return this.current.resolve(normaliseHashtag(hashtag, 'hashtag'))
  }

  /** Bindings by ascending anchor id. */
  list(zone?: string): readonly Binding[] {
    return this.current.list(zone === undefined ? undefined : checkArgument('zone', zoneInput, zone))
  }

  /**
   * Assigns a hashtag to an anchor of a zone, to one near another hashtag, or to a chosen one; unchanged when it is at that target already.
   */
  assign(hashtag: string, target: Target, neighboursOf?: NeighboursOf): Binding {
    const wanted = { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(target) }
    return must(this.#assignAll([wanted], draft => [draft.assign(wanted)], neighboursOf)[0], 'the binding')
  }

  /** Assigns hashtags in order, all or none. An error has the index of the assignment (and its line, if there is one) in its details. */
  assignMany(list: readonly Assignment[], neighboursOf?: NeighboursOf): readonly Binding[] {
    const { wanted, assign } = checked(list)
    return this.#assignAll(wanted, assign, neighboursOf)
  }

  /**
   * The hashtags in their normal form, in order, with a mark on those that are placed by meaning: new ones, or those that move. Faulty
   * items are left for `assign` to report.
   */
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
   * As `assignMany`, within a write that another connection may own, in steps. The new bindings are only in `set` until `save` is called
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

  /** Frees the anchor of a hashtag. Only for the owner: a refusal reveals that nodes exist which nobody else may know of. */
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

  /** Runs one write transaction over the bindings and the data that depends on them. */
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

  /** Writes the changed bindings and a new stamp; null when nothing was changed. */
  #save(draft: BindingDraft, writer: StoreWriter): Written | null {
    if (draft.changed.size === 0) return null
    // The stamp is random, since a counter that was rolled back would give the same value twice.
    const stamp = sha256(this.#host.random(16))
    writeBindings(writer, draft)
    writer.setMeta(HASHTAG_STAMP, stamp)
    return { set: new BindingSet(draft.values()), stamp }
  }

  /** Opens no transaction when there is nothing to write, so that repeating a setup needs no lock. */
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
 * Keys of the nodes that carry a hashtag, of all holders, ascending. Read from the nodes' own column and not from the entries' tags, which
 * others may rewrite. Looks at every node: about a second for a million; used only when a binding changes, which is rare.
 */
export function nodesCarrying(host: LensHost, reader: StoreReader, hashtag: string): readonly EntryKey[] {
  const written: Filter = { op: 'contains', field: `${NODES.aspect}.hashtags`, text: JSON.stringify(hashtag) }
  const candidates = reader.matching(host.accessScope(LOCAL_OWNER), written)
  return [...candidates].filter(entry => hashtagsOf(reader, entry).includes(hashtag))
}

/** The hashtags of a node as stored, in the order of their anchors at that time; none when the entry is no node. */
export function hashtagsOf(reader: StoreReader, entry: EntryKey): readonly string[] {
  const row = reader.table(NODES).get({ entry })
  return row === undefined ? [] : (JSON.parse(String(row['hashtags'])) as string[])
}

// Reads many hashtag assignments from a text: one per line, `#python core` or `#python 17`, hashtag and zone or anchor id separated by
// white space or a comma. As hashtags begin with `#` themselves, a comment is one or more `#` followed by white space or the end of the
// line; it may also follow an assignment. Empty lines are skipped.

/** Longest line in UTF-16 units that can be an assignment; a hashtag has at most 100 characters. */
const MAX_LINE = 1000
const COMMENT = /(^|\s)#+(\s.*)?$/u
const DIGITS = /^[0-9]+$/

/** The assignments in the text, ready for `assignMany`; throws `invalid_parameter` naming the first wrong line. */
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

/** The assignments in a text, which is a stack file in JSON or has one assignment per line. */
export function assignmentsIn(text: string): readonly Assignment[] {
  return STACK_FILE.test(text) ? loadStack(text.trim()).assignments : loadVocabulary(text)
}

/** A text that begins like a JSON object is read as a stack file, not as lines. */
const STACK_FILE = /^\s*\{\s*"/

export const vocabularyForm = z.enum(['lines', 'stack'])

/** The bindings as a text that `assignmentsIn` reads: one line per hashtag with its anchor, or a stack file. */
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
  // The last field of the line is the zone or anchor; everything before it, including commas, is the hashtag.
  const [, hashtag, place] = /^(.*?)[\s,]+([^\s,]+)$/u.exec(said) ?? []
  if (!hashtag || place === undefined) {
    throw invalidParameter('assignments', said, 'a hashtag, and a zone or an anchor id (a comment begins with "# ")')
  }
  const assignment = DIGITS.test(place) ? { hashtag, anchorId: Number(place), line } : { hashtag, zone: place, line }
  checkAssignment(assignment)
  return [assignment]
}

/**
 * The starter vocabulary: hashtags with which a new user can store and query at once, and the anchor of each. Zones from Core to Outer,
 * each in its own order.
 */
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
 * Assigns the hashtags of the starter vocabulary that are not assigned yet, and returns their bindings. A hashtag whose anchor is taken
 * gets the nearest free one of its zone; hashtags assigned elsewhere stay there; a full zone takes no more. Running it again changes
 * nothing.
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
