/**
 * Packs an answer into a number of tokens: first whole texts, by rank, then signatures of those that did not fit, then bare
 * names; and says what is left out. Nothing is cut: a piece is in it whole or not at all. The same input gives the same text.
 */

export interface PackItem {
  readonly id: number
  readonly name: string
  readonly type: string
  /** Where it stands: a URL, with lines where they are known; empty when nowhere. */
  readonly place: string
  /** Its text; null: there is none to show. */
  readonly text: string | null
  /** One line; null: there is none. */
  readonly signature: string | null
}

export interface Pack {
  readonly text: string
  /** Of `text`, as counted. */
  readonly tokens: number
  /** Ids by how much of them is told, in the order of rank. */
  readonly whole: readonly number[]
  readonly signatures: readonly number[]
  readonly names: readonly number[]
  readonly omitted: readonly number[]
}

const LEVELS = ['whole', 'signature', 'name'] as const
type Level = (typeof LEVELS)[number]

/** Ids that a notice names. */
const MOST_NAMED = 20

/** Counts the tokens of a text; may stop when there are more than `enough`. */
export type CountTokens = (text: string, enough?: number) => number

/** `items` by rank, best first. */
export function pack(items: readonly PackItem[], maxTokens: number, count: CountTokens): Pack {
  const levels = new Map<PackItem, Level>()
  const costs = (item: PackItem, level: Level) => {
    const block = blockOf(item, level)
    return block === null ? Number.POSITIVE_INFINITY : count(`${block}\n`, maxTokens)
  }
  const reserve = items.length === 0 ? 0 : count(`\n${noticeOf(items.map(({ id }) => id))}`)
  // Room for the notice is kept as long as something may be left out.
  let room = maxTokens - reserve
  for (const level of LEVELS) {
    for (const item of items) {
      if (levels.has(item)) continue
      const cost = costs(item, level)
      if (cost > room) continue
      levels.set(item, level)
      room -= cost
    }
  }
  if (levels.size < items.length) fillWithoutNotice(items, levels, room + reserve, costs)
  return fitted(items, levels, maxTokens, count)
}

/** When all that is left fits where the notice would stand, there is no notice. */
function fillWithoutNotice(
  items: readonly PackItem[],
  levels: Map<PackItem, Level>,
  room: number,
  costs: (item: PackItem, level: Level) => number,
): void {
  const rest = items.filter(item => !levels.has(item))
  const cost = rest.reduce((sum, item) => sum + costs(item, 'name'), 0)
  if (cost <= room) for (const item of rest) levels.set(item, 'name')
}

/** Tokens of pieces need not add up to those of the whole: what is too much goes, the last first. */
function fitted(
  items: readonly PackItem[],
  levels: Map<PackItem, Level>,
  maxTokens: number,
  count: (text: string) => number,
): Pack {
  for (;;) {
    const told = items.filter(item => levels.has(item))
    const omitted = items.filter(item => !levels.has(item)).map(({ id }) => id)
    const blocks = told.map(item => blockOf(item, levels.get(item) as Level))
    const notices = omitted.length === 0 ? [''] : [noticeOf(omitted), `(${omitted.length} left out)`, '']
    for (const notice of notices) {
      const text = [...blocks, notice].filter(part => part !== '').join('\n')
      const tokens = count(text)
      if (tokens <= maxTokens || (text === '' && tokens === 0)) return packed(text, tokens, told, levels, omitted)
    }
    const last = told.at(-1)
    if (last === undefined) return packed('', 0, [], levels, omitted)
    levels.delete(last)
  }
}

function packed(
  text: string,
  tokens: number,
  told: readonly PackItem[],
  levels: ReadonlyMap<PackItem, Level>,
  omitted: readonly number[],
): Pack {
  const at = (level: Level) => told.filter(item => levels.get(item) === level).map(({ id }) => id)
  return { text, tokens, whole: at('whole'), signatures: at('signature'), names: at('name'), omitted }
}

/** Null: the item cannot be told at that level. */
function blockOf({ id, name, type, place, text, signature }: PackItem, level: Level): string | null {
  const where = place === '' ? '' : ` ${place}`
  switch (level) {
    case 'whole':
      return text === null ? null : `## ${id} ${name} (${type})${where}\n${text.replace(/\n+$/, '')}`
    case 'signature':
      return signature === null ? null : `- ${id} ${signature}${where}`
    case 'name':
      return `- ${id} ${name} (${type})`
  }
}

/** What is not told, and how to get it. */
function noticeOf(ids: readonly number[]): string {
  const named = ids.slice(0, MOST_NAMED).join(', ')
  const more = ids.length > MOST_NAMED ? ', …' : ''
  return `(${ids.length} left out: ${named}${more}; ask with a larger max_tokens, or /mind/concepts/get by id)`
}
