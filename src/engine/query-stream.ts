/**
 * A question answered piece by piece: what a page of the same limit would hold, in its order, each piece checked against what
 * the viewer may see as it leaves. No transaction is open between pieces, and nothing is made before it is asked for.
 */
import { DEFAULT_CHUNK_SIZE } from '../model/limits.ts'
import type { CallContext } from '../model/operation.ts'
import type { Note, PageChunk } from '../model/page.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { Part } from '../pipeline/run.ts'
import type { Asking } from './asking.ts'

export async function* streamQuery(
  engine: Asking,
  { chunk_size = DEFAULT_CHUNK_SIZE, ...input }: QueryInput,
  call: CallContext,
): AsyncGenerator<PageChunk, void> {
  engine.resolve(input, call)
  const asking = await engine.for(input, call)
  let query = asking.resolve(input, call)
  const { limit } = query
  // Between pieces the order is held among those of pages: who reads slowly has no more room than others.
  const place = asking.place(call)
  let from = asking.heldFor(query, call)
  const told = new Told()
  try {
    for (let shown = 0, isFirst = true; ; isFirst = false) {
      const part = await asking.part(query, from, Math.min(chunk_size, limit - shown), call)
      const { page, end, cursor } = part.answer
      shown += page.items.length
      const isLast = cursor === null || shown >= limit
      if (isLast) asking.holdRest(part, call)
      else place.hold(part)
      yield told.chunkOf(part, isFirst, isLast ? null : shown / limit)
      if (isLast) return
      from = place.find()
      query = { ...query, after: end, cursor: null }
    }
  } finally {
    place.release()
  }
}

/** What pieces say beside their items: by the end all that a page of all of them would say. */
class Told {
  readonly #said = new Set<string>()
  /** Not said in the first piece. */
  readonly #later: Note[] = []
  #isComplete = true

  /** `progress` null: it is the last one. */
  chunkOf({ answer: { page } }: Part, isFirst: boolean, progress: number | null): PageChunk {
    const { items, verdict, reason, verdict_by, nearest, did_you_mean, lens, mode, as_of } = page
    const { notes, coverage, cursor } = page
    this.#isComplete &&= coverage.complete
    this.#hear(notes, isFirst)
    const isLast = progress === null
    return {
      ...(isFirst && { verdict, reason, verdict_by, nearest, lens, mode, as_of, notes }),
      ...(isFirst && did_you_mean !== undefined && { did_you_mean }),
      items,
      progress: progress ?? 1,
      done: isLast,
      ...(isLast && { coverage: this.#isComplete ? coverage : { ...coverage, complete: false }, cursor }),
      ...(isLast && this.#later.length > 0 && { notes: this.#later }),
    }
  }

  #hear(notes: readonly Note[], isFirst: boolean): void {
    for (const note of notes) {
      if (this.#said.has(note.code)) continue
      this.#said.add(note.code)
      if (!isFirst) this.#later.push(note)
    }
  }
}
