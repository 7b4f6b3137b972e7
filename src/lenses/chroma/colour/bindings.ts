/**
 * Which hashtag is bound to which anchor, kept in memory and in agreement with every process that uses the store. Each change writes a new
 * random stamp into the store's meta table; each look-up reads this stamp (microseconds), and reads the table again only when the stamp
 * differs. The store's version number cannot serve as the stamp: it does not change inside a transaction that may be rolled back.
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
 * Input fields that choose the anchor of a hashtag: a free anchor of a zone (in any letter case), a free anchor near an assigned hashtag,
 * or the anchor with a given id.
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

/** Where a hashtag is to be placed: in a zone, near the hashtag `near`, or both; or at one anchor id. */
export interface Target {
  readonly zone?: string | undefined
  readonly near?: string | undefined
  readonly anchorId?: number | undefined
}
type CheckedTarget = CamelCased<z.output<typeof target>>

/**
 * Returns, for a hashtag in its normal form, the assigned hashtags nearest to it in meaning; an empty list where meanings are not
 * available.
 */
export type NeighboursOf = (hashtag: string) => readonly string[]
export interface ToPlace {
  readonly hashtag: string
  readonly byMeaning: boolean
}
const NO_NEIGHBOURS: NeighboursOf = () => []

export interface Assignment extends Target {
  readonly hashtag: string
  /** Line of the text from which the assignment was read, counted from 1; named in errors. */
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

/**
 * The bindings of hashtags to anchors at one moment. The committed set is replaced and not changed, so a reader that keeps it sees the same
 * bindings throughout.
 */
export class BindingSet {
  protected readonly byHashtag: Map<string, Binding>
  protected readonly byAnchor: Map<number, Binding>

  /** Requires that every binding's anchor exists, and that no anchor and no hashtag occurs twice. */
  constructor(bindings: Iterable<Binding>) {
    const all = [...bindings]
    this.byHashtag = new Map(all.map(binding => [binding.hashtag, binding]))
    this.byAnchor = new Map(all.map(binding => [binding.anchor_id, binding]))
  }

  get size(): number {
    return this.byHashtag.size
  }

  /** The binding of a hashtag that is given in its normal form; null when the hashtag is not assigned. */
  readonly resolve: Resolve = hashtag => this.byHashtag.get(hashtag) ?? null

  /** The binding of the anchor with this id; null when no hashtag is bound to it. */
  at(anchorId: number): Binding | null {
    return this.byAnchor.get(anchorId) ?? null
  }

  /** All bindings, or those of one zone, in ascending order of anchor id. */
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

/** A binding of this hashtag to this anchor, with the anchor's zone and colour; undefined when there is no anchor of this id. */
export function bindingOf(hashtag: string, anchorId: number): Binding | undefined {
  const anchor = STACK.anchor(anchorId)
  if (anchor === undefined) return undefined
  const { id, zone, L, a, b, mass } = anchor
  return Object.freeze({ hashtag, anchor_id: id, zone, L, a, b, mass })
}

/** A copy of the bindings in which changes are tried out in memory; `Bindings.change` then writes them in one transaction. */
export class BindingDraft extends BindingSet {
  /** Ids of the anchors whose binding in this draft differs from the one in the store. */
  readonly changed: Set<number> = new Set()
  /** For each zone, an anchor id below which the zone has no free anchor. */
  readonly #firstFree = new Map<Zone, number>()
  readonly #neighboursOf: NeighboursOf

  constructor(bindings: Iterable<Binding>, neighboursOf: NeighboursOf = NO_NEIGHBOURS) {
    super(bindings)
    this.#neighboursOf = neighboursOf
  }

  /**
   * Assigns the hashtag to an anchor and returns its binding. A hashtag that is already in the target's zone, or on the target anchor,
   * stays where it is; one that is assigned elsewhere throws `hashtag_assigned`.
   */
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
   * Chooses the anchor for a hashtag: the anchor that the target names, else the free anchor of the zone nearest to the colour of the
   * hashtag `near`, or to the mean colour of the hashtags nearest in meaning; without any of these, the free anchor with the lowest id.
   * Throws `zone_full` or `anchor_occupied`.
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

  /** Binds a hashtag to the anchor with the given id. Requires that the hashtag is not assigned and the anchor is free. */
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
   * The free anchor of a zone nearest to a colour; of several at the same distance, the one with the lowest id; null when no anchor is
   * free. Examines every anchor of the zone, which takes about 20 microseconds.
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

  /** The zone in which the target lies. Throws `unknown_hashtag` when the target is near a hashtag that is not assigned. */
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

/** Whether the hashtag is already placed as the target asks: on the target's anchor, or in its zone where it names no anchor. */
export function isAt(binding: Binding, { zone, anchorId }: CheckedTarget): boolean {
  return anchorId === undefined ? binding.zone === zone : binding.anchor_id === anchorId
}

function meanOf(bindings: readonly Binding[]): Pick<Binding, 'L' | 'a' | 'b'> {
  const mean = (of: 'L' | 'a' | 'b') => bindings.reduce((sum, one) => sum + one[of], 0) / bindings.length
  return { L: mean('L'), a: mean('a'), b: mean('b') }
}

/** Key in the store's meta table of the random stamp that changes with each change of a binding. */
export const HASHTAG_STAMP = 'chroma_hashtags'

export class Bindings {
  readonly #host: LensHost
  #set = new BindingSet([])
  /** The stamp that the store had when the bindings in memory were read; undefined in a store that never had a binding. */
  #stamp: string | undefined

  constructor(host: LensHost) {
    this.#host = host
  }

  /** The bindings that the store has now. Code that needs several look-ups to agree reads this property once and keeps the result. */
  get current(): BindingSet {
    if (this.#host.store.meta(HASHTAG_STAMP) !== this.#stamp) {
      this.#host.store.read(reader => this.#adopt(readBindings(reader), reader.meta(HASHTAG_STAMP)))
    }
    return this.#set
  }

  /** The binding of a hashtag, which may be in any spelling (letter case, number of `#`); null when the hashtag is not assigned. */
  resolve(hashtag: unknown): Binding | null {
    return this.current.resolve(normaliseHashtag(hashtag, 'hashtag'))
  }

  /** The current bindings, all or those of one zone, in ascending order of anchor id. */
  list(zone?: string): readonly Binding[] {
    return this.current.list(zone === undefined ? undefined : checkArgument('zone', zoneInput, zone))
  }

  /**
   * Assigns a hashtag to an anchor: in a zone, near another hashtag, or with a chosen id. A hashtag that is already at its target is left
   * unchanged.
   */
  assign(hashtag: string, target: Target, neighboursOf?: NeighboursOf): Binding {
    const wanted = { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(target) }
    return must(this.#assignAll([wanted], draft => [draft.assign(wanted)], neighboursOf)[0], 'the binding')
  }

  /**
   * Assigns several hashtags in the given order; either all are assigned or none. An error has in its details the index of the faulty
   * assignment, and its line where it was read from a text.
   */
  assignMany(list: readonly Assignment[], neighboursOf?: NeighboursOf): readonly Binding[] {
    const { wanted, assign } = checked(list)
    return this.#assignAll(wanted, assign, neighboursOf)
  }

  /**
   * The hashtags of a list in their normal form and in order, each marked when its anchor is to be chosen by meaning (a new hashtag, or
   * with `isMove` one that moves). Faulty items are skipped here; `assign` reports them.
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
   * Assigns several hashtags within a write transaction of the caller, pausing between them so that other work can run. The new bindings
   * exist only in `set` until the caller calls `save` and, after the commit, `adopt`. `requireEditor` is called when a hashtag of the list
   * is not assigned yet.
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

  /**
   * Removes a hashtag's binding, so that its anchor is free. Only for the owner: the refusal for a hashtag that nodes carry would reveal to
   * others that hidden nodes exist.
   */
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

  /**
   * Runs `body` in one write transaction that changes bindings and the data that depends on them, and takes over the new bindings after the
   * commit.
   */
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

  /** Writes the changed bindings and a new stamp to the store; returns null when the draft has no change. */
  #save(draft: BindingDraft, writer: StoreWriter): Written | null {
    if (draft.changed.size === 0) return null
    // The stamp is random and not a counter: a counter would give one value twice where a transaction is rolled back.
    const stamp = sha256(this.#host.random(16))
    writeBindings(writer, draft)
    writer.setMeta(HASHTAG_STAMP, stamp)
    return { set: new BindingSet(draft.values()), stamp }
  }

  /**
   * Assigns hashtags in one transaction. Opens no transaction when nothing would change, so that running a setup twice takes no write lock.
   */
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
 * Keys of all nodes, of any holder, that carry a hashtag, in ascending order. Reads the nodes' own column, since the tags of an entry can
 * be rewritten by its holder. Examines every node (about a second for a million), which is acceptable because bindings rarely change.
 */
export function nodesCarrying(host: LensHost, reader: StoreReader, hashtag: string): readonly EntryKey[] {
  const written: Filter = { op: 'contains', field: `${NODES.aspect}.hashtags`, text: JSON.stringify(hashtag) }
  const candidates = reader.matching(host.accessScope(LOCAL_OWNER), written)
  return [...candidates].filter(entry => hashtagsOf(reader, entry).includes(hashtag))
}

/** The hashtags of a node as they were stored, in the order that their anchors had then; an empty list when the entry is no node. */
export function hashtagsOf(reader: StoreReader, entry: EntryKey): readonly string[] {
  const row = reader.table(NODES).get({ entry })
  return row === undefined ? [] : (JSON.parse(String(row['hashtags'])) as string[])
}

// Reads hashtag assignments from a text with one per line, such as `#python core` or `#python 17`: a hashtag, and a zone or anchor id,
// separated by white space or a comma. As hashtags begin with `#` too, a comment is one or more `#` followed by white space or the end of
// the line; it may also follow an assignment. Empty lines are skipped.

/** Longest line, in UTF-16 units, that can be an assignment of a hashtag (a hashtag has at most 100 characters). */
const MAX_LINE = 1000
const COMMENT = /(^|\s)#+(\s.*)?$/u
const DIGITS = /^[0-9]+$/

/**
 * The hashtag assignments that the text lists, one per line, in the form that `assignMany` takes. Throws `invalid_parameter`, naming the
 * first faulty line.
 */
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

/** The hashtag assignments in a text, which may be a stack file (JSON) or a list with one assignment per line. */
export function assignmentsIn(text: string): readonly Assignment[] {
  return STACK_FILE.test(text) ? loadStack(text.trim()).assignments : loadVocabulary(text)
}

/** Beginning of a text that is read as a stack file (JSON) and not as lines: a brace and a quotation mark. */
const STACK_FILE = /^\s*\{\s*"/

export const vocabularyForm = z.enum(['lines', 'stack'])

/** The bindings as a text: one line per hashtag with its anchor id, or a stack file in JSON. `assignmentsIn` reads both forms. */
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
  // The last field of a line is the zone or anchor id; all text before it, including commas, is the hashtag.
  const [, hashtag, place] = /^(.*?)[\s,]+([^\s,]+)$/u.exec(said) ?? []
  if (!hashtag || place === undefined) {
    throw invalidParameter('assignments', said, 'a hashtag, and a zone or an anchor id (a comment begins with "# ")')
  }
  const assignment = DIGITS.test(place) ? { hashtag, anchorId: Number(place), line } : { hashtag, zone: place, line }
  checkAssignment(assignment)
  return [assignment]
}

/**
 * The starter vocabulary: hashtags with fixed anchors with which a new user can store and query at once. Zones in the order Core, Mid,
 * Outer, each with its hashtags in the order of the table.
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
 * gets the nearest free anchor of its zone, or none in a full zone; hashtags that have another anchor keep it. A second run changes
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
