/** What was said around a message in its session. */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import type { LensHost } from '../../lens.ts'
import { MESSAGES } from '../tables.ts'
import type { ToldNeighbour } from './ask-schema.ts'
import { stateOf } from './state.ts'

/** Up to `count` messages before it and as many behind, in order, of those that were there at that moment. */
export function neighboursOf(host: LensHost, entry: EntryKey, count: number, asOf: Instant): readonly ToldNeighbour[] {
  return host.store.read(reader => {
    const message = reader.entry(entry)
    const row = reader.table(MESSAGES).get({ entry })
    if (message === undefined || row === undefined) return []
    const [transcript] = stateOf(host).transcripts.of([row['thread'] as string], [message.partition])
    const session = (transcript?.spoken ?? []).filter(each => each.session === row['session'])
    const at = session.findIndex(each => each.entry === entry)
    const keys = session.slice(Math.max(0, at - count), at + count + 1).map(each => each.entry)
    return reader.entries(keys.filter(key => key !== entry)).flatMap(({ key, id, content, validFrom, validUntil }) => {
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
