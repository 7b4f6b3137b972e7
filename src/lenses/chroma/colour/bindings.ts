/**
 * Which hashtag sits on which anchor, in step with every process on the store. A stamp in the store's meta is renewed with
 * each change; reading it costs microseconds, so it is read at every look-up and the table only when the stamp is another.
 * The store's version would not do: inside a transaction that is rolled back later it stands still.
 */
import { must } from '../../../base/assert.ts'
import { sha256 } from '../../../base/canonical.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { HashtagConflictError, invalidParameter, placed, StorageError, UnknownHashtagError } from '../errors.ts'
import type { Binding } from '../model.ts'
import { HASHTAGS } from '../tables.ts'
import {
  type Assignment,
  type CheckedAssignment,
  checkAssignment,
  checkTarget,
  type Target,
  zoneOf,
} from './assignment.ts'
import { BindingDraft } from './binding-draft.ts'
import { BindingSet, bindingOf } from './binding-set.ts'
import { nodesCarrying } from './carriers.ts'
import { normaliseHashtag } from './hashtag.ts'

/** Named text of the store that is another after each change of a binding. */
export const HASHTAG_STAMP = 'chroma_hashtags'

export class Bindings {
  readonly #host: LensHost
  #set = new BindingSet([])
  /** Of the set; undefined in a store that never had a binding. */
  #stamp: string | undefined
  #generation = 0

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

  /** Grows with every change of a binding that this process hears of. */
  get generation(): number {
    void this.current
    return this.#generation
  }

  /** In any spelling; null when it is not assigned. */
  resolve(hashtag: unknown): Binding | null {
    return this.current.resolve(normaliseHashtag(hashtag, 'hashtag'))
  }

  /** By ascending anchor. */
  list(zone?: string): readonly Binding[] {
    return this.current.list(zone === undefined ? undefined : zoneOf(zone))
  }

  /** Puts a hashtag on the lowest free anchor of a zone, or on a chosen one; as it is when it already sits there. */
  assign(hashtag: string, target: Target): Binding {
    const wanted = { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(target) }
    return must(this.#assignAll([wanted], draft => [draft.assign(wanted)])[0], 'the binding')
  }

  /**
   * In order, all or none. An error has the index (and the line, if there is one) in its details. `requireEditor` is called
   * before anything is assigned, where a hashtag of the list is not assigned yet.
   */
  assignMany(list: readonly Assignment[], requireEditor: () => void = () => {}): readonly Binding[] {
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
    if (wanted.some(({ hashtag }) => this.current.resolve(hashtag) === null)) requireEditor()
    return this.#assignAll(wanted, draft => wanted.map((one, index) => at(index, () => draft.assign(one))))
  }

  /** Frees the anchor. Only for the owner: that it is refused tells of nodes nobody else may know of. */
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
  change<T>(body: (draft: BindingDraft, writer: StoreWriter) => T): T {
    const { store, clock, random } = this.#host
    let written: { readonly set: BindingSet; readonly stamp: string } | undefined
    const result = store.write(clock.now(), writer => {
      const draft = new BindingDraft(this.current)
      const done = body(draft, writer)
      if (draft.changed.size > 0) {
        // Random, since a counter that was rolled back would be given out twice.
        const stamp = sha256(random(16))
        writeBindings(writer, draft)
        writer.setMeta(HASHTAG_STAMP, stamp)
        written = { set: draft.result(), stamp }
      }
      return done
    })
    if (written !== undefined) this.#adopt(written.set, written.stamp)
    return result
  }

  /** Without a transaction when there is nothing to write, so that setting up again needs no lock. */
  #assignAll(
    wanted: readonly CheckedAssignment[],
    assign: (draft: BindingDraft) => readonly Binding[],
  ): readonly Binding[] {
    const { current } = this
    const held = wanted.map(({ hashtag }) => current.resolve(hashtag))
    if (held.includes(null)) return this.change(assign)
    return assign(new BindingDraft(current))
  }

  #adopt(set: BindingSet, stamp: string | undefined): void {
    this.#set = set
    this.#stamp = stamp
    this.#generation++
  }
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
