/** What was said around a message in its session. */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import type { LensHost } from '../../lens.ts'
import { MESSAGES } from '../tables.ts'
import type { ToldNeighbour } from './ask-schema.ts'
import { stateOf } from './state.ts'
import type { Stored } from './transcript.ts'

/**
 * Up to `count` messages before it and as many behind, in order, of those that were there at that moment. Only those of the
 * audience that the message has as it is given here; none where it is no message of that audience any more.
 */
export function neighboursOf(
  host: LensHost,
  { entry, row }: Stored,
  count: number,
  asOf: Instant,
): readonly ToldNeighbour[] {
  return host.store.read(reader => {
    const [transcript] = stateOf(host).transcripts.of([row['thread'] as string], [entry.partition])
    const session = (transcript?.spoken ?? []).filter(each => each.session === row['session'])
    const at = session.findIndex(each => each.entry === entry.key)
    if (at < 0) return []
    const keys = session.slice(Math.max(0, at - count), at + count + 1).map(each => each.entry)
    return reader
      .entries(keys.filter(key => key !== entry.key))
      .flatMap(({ key, id, content, validFrom, validUntil }) => {
        const isThere = (validFrom === null || validFrom <= asOf) && (validUntil === null || validUntil > asOf)
        const own = reader.table(MESSAGES).get({ entry: key })
        if (!isThere || own === undefined) return []
        const time = own['at'] as Instant | null
        return [
          {
            ...{ id, speaker: own['speaker'] as string, position: Number(own['position']) },
            ...{ at: time === null ? null : toIso(time), text: content },
          },
        ]
      })
  })
}
