/** A question's context with something of it replaced. */
import { Deadline } from '../base/clock.ts'
import type { Index } from '../index/contract.ts'
import type { Note } from '../model/page.ts'
import type { Sight } from '../model/viewer.ts'
import type { QueryContext } from './context.ts'

export type Replaced = Partial<Pick<QueryContext, 'query' | 'deadline' | 'notes'>>

/**
 * Every member is passed on by hand: an object made with the other as its prototype has a hidden class of its own, and what
 * that names is only freed by a full collection.
 */
export class DerivedContext implements QueryContext {
  readonly query: QueryContext['query']
  readonly #of: QueryContext
  readonly #replaced: Replaced

  constructor(of: QueryContext, replaced: Replaced) {
    this.query = replaced.query ?? of.query
    this.#of = of
    this.#replaced = replaced
  }

  get sight(): Sight {
    return this.#of.sight
  }

  get now(): QueryContext['now'] {
    return this.#of.now
  }

  get deadline(): QueryContext['deadline'] {
    return this.#replaced.deadline ?? this.#of.deadline
  }

  get turns(): QueryContext['turns'] {
    return this.#of.turns
  }

  get reader(): QueryContext['reader'] {
    return this.#of.reader
  }

  get words(): QueryContext['words'] {
    return this.#of.words
  }

  get vectors(): QueryContext['vectors'] {
    return this.#of.vectors
  }

  get model(): QueryContext['model'] {
    return this.#of.model
  }

  get fields(): QueryContext['fields'] {
    return this.#of.fields
  }

  get secret(): string {
    return this.#of.secret
  }

  get memo(): QueryContext['memo'] {
    return this.#of.memo
  }

  get notes(): QueryContext['notes'] {
    return this.#replaced.notes ?? this.#of.notes
  }

  get trace(): QueryContext['trace'] {
    return this.#of.trace
  }

  index(name: string): Index {
    return this.#of.index(name)
  }

  embed(text: string, late?: AbortSignal): Promise<Float32Array | null> {
    return this.#of.embed(text, late)
  }

  look(): Sight {
    return this.#of.look()
  }

  note(note: Note): void {
    this.#of.note(note)
  }
}

/**
 * The context of a query whose order is finished after its page was shown, without limits of number and time. Until it thaws it sees what the question saw; from then on what the viewer
 * may see at the time: explanations are made from it.
 */
export class LastingContext extends DerivedContext {
  #frozen: Sight | null

  constructor(context: QueryContext) {
    super(context, {
      query: { ...context.query, limit: Number.MAX_SAFE_INTEGER },
      deadline: new Deadline(Number.POSITIVE_INFINITY),
    })
    this.#frozen = context.sight
  }

  override get sight(): Sight {
    return this.#frozen ?? this.look()
  }

  thaw(): void {
    this.#frozen = null
  }
}
