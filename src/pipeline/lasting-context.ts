/** The context of a question whose order is finished after its page was shown. */
import { Deadline } from '../base/clock.ts'
import type { Sight } from '../model/viewer.ts'
import type { QueryContext } from './context.ts'
import { DerivedContext } from './derived-context.ts'

/**
 * The same without limits of number and time. Until it thaws it sees what the question saw; from then on what the viewer
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
