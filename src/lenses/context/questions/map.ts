/**
 * `/context/map`: the shortest useful overview of a repository in so many tokens. Symbols come by how much leads to them
 * (PageRank over the links), and are told below their files. The same store gives the same text.
 */
import { z } from 'zod'
import type { LinkIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { countTokens } from '../../../text/count-tokens.ts'
import { handler, look } from '../call.ts'
import { isBelow, shownPath } from '../names.ts'
import { clamped, text, total } from '../schemas.ts'
import { type Concept, textsOfConcepts, type VisibleConcepts } from '../state.ts'
import { LINKS } from '../tables.ts'

const DEFAULT_TOKENS = 2_000
const MOST_TOKENS = 200_000
/** A line takes at least so many. */
const LEAST_LINE = 4

const SYMBOLS: ReadonlySet<string> = new Set('Class Interface TypeAlias Enum Function Method Constant'.split(' '))

/** The usual figures for walks over links: how often they go on, and after how many steps they hardly change. */
const DAMPING = 0.85
const STEPS = 30

export const MAP_HANDLER = handler({
  path: '/context/map',
  summary: 'Give an overview of the code in a number of tokens: its most used symbols by file',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      max_tokens: clamped('Most tokens of the text', DEFAULT_TOKENS, 1, MOST_TOKENS),
      path: text.nullish().describe('Only below this folder. Default: everything that is indexed'),
    }),
  result: () =>
    z.strictObject({
      text: z.string().describe('Paths of files, best first, with their symbols as lines: number and signature'),
      tokens: total.describe('Length of text in tokens'),
      symbols: total.describe('Classes, functions and others that are shown'),
      files: total.describe('Different files of what is shown'),
      omitted: total.describe('Symbols that did not fit'),
    }),
  run(call, { max_tokens: maxTokens, path = null }) {
    const { concepts, sight } = look(call)
    const { workspace, store } = call.host
    const root = workspace?.url
    const folder = path === null ? null : (workspace?.urlOf(path) ?? path)
    const ranks = pageRank(concepts, call.host.index(LINKS.name) as LinkIndex, sight.partitions)
    const symbols = concepts.all
      .map((concept, at) => ({ concept, rank: ranks[at] as number }))
      .filter(({ concept }) => SYMBOLS.has(concept.type) && concept.startLine !== null && isIn(folder, concept))
      .sort((a, b) => b.rank - a.rank || a.concept.id - b.concept.id)
      .map(({ concept }) => concept)
    const candidates = symbols.slice(0, Math.ceil(maxTokens / LEAST_LINE))
    const entries = candidates.map(({ entry }) => entry)
    const signatures = textsOfConcepts(store, 'signature', entries)
    const told = (count: number) => overview(candidates.slice(0, count), signatures, root)
    const count = mostThatFits(candidates.length, n => countTokens(told(n)) <= maxTokens)
    const drawn = told(count)
    const files = new Set(candidates.slice(0, count).map(({ url }) => url)).size
    return {
      result: { text: drawn, tokens: countTokens(drawn), symbols: count, files, omitted: symbols.length - count },
    }
  },
})

/** Null: any folder will do. */
function isIn(folder: string | null, { url }: Concept): boolean {
  return folder === null || isBelow(url ?? '', folder)
}

/** Files by their best symbol; symbols as they stand in them. */
function overview(
  symbols: readonly Concept[],
  signatures: ReadonlyMap<EntryKey, string | null>,
  root: string | undefined,
): string {
  const files = Map.groupBy(symbols, ({ url }) => url ?? '')
  const blocks = [...files].map(([url, held]) => {
    const lines = held
      .toSorted((a, b) => (a.startLine ?? 0) - (b.startLine ?? 0) || a.id - b.id)
      .map(symbol => `  ${symbol.startLine}: ${signatures.get(symbol.entry) || symbol.name}`)
    return [shownPath(url, root), ...lines].join('\n')
  })
  return blocks.join('\n')
}

/** The largest number up to `most` that fits, if what fits does not grow. */
function mostThatFits(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** In the order of `all`. Walks along links, in proportion to their weights; who cannot go on starts anywhere. */
function pageRank({ all }: VisibleConcepts, links: LinkIndex, partitions: readonly number[]): Float64Array {
  const scope = { partitions }
  const at = new Map(all.map(({ id }, position) => [id, position]))
  const edges = all.map(({ id }) =>
    links.out(id, scope).flatMap(({ node, weight }) => {
      const target = at.get(node)
      return target === undefined ? [] : [{ target, weight }]
    }),
  )
  const sums = edges.map(out => out.reduce((sum, { weight }) => sum + weight, 0))
  let ranks = new Float64Array(all.length).fill(1 / all.length)
  for (let step = 0; step < STEPS; step++) {
    let lost = 0
    const next = new Float64Array(all.length)
    for (const [source, out] of edges.entries()) {
      const rank = ranks[source] as number
      const sum = sums[source] as number
      if (sum === 0) lost += rank
      else for (const { target, weight } of out) next[target] = (next[target] as number) + (rank * weight) / sum
    }
    const everywhere = (1 - DAMPING + DAMPING * lost) / all.length
    ranks = next.map(rank => rank * DAMPING + everywhere)
  }
  return ranks
}
