/** Answers for tests of live queries, and the one who listens to their events. */
import type { JsonObject } from '../../../../src/base/canonical.ts'
import type { LiveEvent, LiveItem, LiveOptions, LiveState } from '../../../../src/model/live.ts'

export const OPTIONS: LiveOptions = {
  debounceMs: 1000,
  includeRemovals: true,
  includeReranks: false,
  maxEventsPerMinute: 600,
  notifyOnConnect: true,
  resumeToken: null,
}

/** One letter is a key; what follows it is its version, and after a colon its standing: `a`, `b2`, `c2:x`. */
export function stateOf(texts: readonly string[], rest: Partial<Omit<LiveState, 'items'>> = {}): LiveState {
  return {
    items: texts.map((text, at) => itemOf(text, at + 1, texts.length)),
    full: rest.full ?? false,
    asOf: rest.asOf ?? 0,
    until: rest.until ?? Number.POSITIVE_INFINITY,
  }
}

function itemOf(text: string, rank: number, of: number): LiveItem {
  const key = text.slice(0, 1)
  const [version = '', standing = ''] = text.slice(1).split(':')
  const title = `${key}${version}`
  return {
    key: `ann\n${key}`,
    id: key,
    version,
    standing,
    score: (of - rank + 1) / of,
    since: 0,
    rank,
    shown: { title },
    fields: { title },
  }
}

type Reported = Pick<LiveEvent, 'type' | 'id'> & { readonly item?: JsonObject | undefined; readonly reason?: string }

/** What someone knows who has heard all events. */
export class Listener {
  readonly known = new Map<string, string>()

  hear({ type, id, item, reason }: Reported): void {
    if (type === 'removed') this.known.delete(id)
    else if (reason !== undefined || item !== undefined) this.known.set(id, String(item?.['title']))
  }

  /** In no order: ranks are reported only on request. */
  get texts(): readonly string[] {
    return [...this.known.values()].sort()
  }
}

/** What an answer shows, in no order. */
export function shownIn({ items }: Pick<LiveState, 'items'>): readonly string[] {
  return items.map(({ shown }) => String(shown['title'])).sort()
}
