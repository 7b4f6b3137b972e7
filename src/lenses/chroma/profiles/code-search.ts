/**
 * Questions about code: `language:python kind:function symbol:retry recent async backoff`. Fields become metadata filters,
 * the rest is plain language; entries whose label names what was asked for come first, and no file fills the answer.
 */
import type { EffectiveQuery, MetadataFilters, QueryParams, ResultRow } from '../model.ts'
import { readQuestion } from './default-profile.ts'
import { type ParseContext, QueryProfile } from './query-profile.ts'

export interface CodeSearchOptions {
  /** Entries of one file (`metadata.path`) in an answer; default 3. */
  readonly perFile?: number | undefined
}

/** What may be written before the colon, and the metadata field it stands for. */
const FIELDS: Readonly<Record<string, string>> = {
  language: 'language',
  lang: 'language',
  kind: 'kind',
  symbol: 'symbol',
  path: 'path',
}

const FIELD = /(?<!\S)(language|lang|kind|symbol|path):("[^"]*"|\S+)/gi

export class CodeSearchQueryProfile extends QueryProfile {
  readonly #perFile: number

  constructor(options: CodeSearchOptions = {}) {
    super()
    this.#perFile = options.perFile ?? 3
  }

  override parseInput(text: string, context: ParseContext): QueryParams {
    const filters: Record<string, MetadataFilters[string]> = {}
    const rest = text.replace(FIELD, (_, name: string, value: string) => {
      const field = FIELDS[name.toLowerCase()] as string
      const bare = value.replaceAll('"', '')
      // A path is given in part; the others as they are.
      filters[field] = field === 'path' ? { $contains: bare } : bare
      return ' '
    })
    const { hashtags, k, temporalRange } = readQuestion(rest, context)
    return {
      hashtags: context.complete(hashtags),
      ...(k !== null && { k }),
      ...(temporalRange !== null && { temporalRange }),
      ...(Object.keys(filters).length > 0 && { metadataFilters: filters }),
    }
  }

  /** The share of the hashtags asked for, without those added, that are words of the label: `retryAsync` has two. */
  override customScoring(entry: ResultRow, query: EffectiveQuery): number {
    const added = new Set(query.completed_hashtags)
    const asked = query.hashtags.filter(hashtag => !added.has(hashtag)).map(hashtag => hashtag.slice(1))
    const words = wordsOf(entry.label)
    return asked.length === 0 ? 0 : asked.filter(word => words.has(word)).length / asked.length
  }

  override postProcess(rows: ResultRow[]): ResultRow[] {
    const perFile = new Map<string, number>()
    return rows.filter(row => {
      const path = row.metadata?.['path']
      if (typeof path !== 'string') return true
      const before = perFile.get(path) ?? 0
      perFile.set(path, before + 1)
      return before < this.#perFile
    })
  }
}

/** Identifiers whole and in their parts, lower case. */
function wordsOf(label: string): ReadonlySet<string> {
  const identifiers = label.match(/[\p{L}\p{N}_$]+/gu) ?? []
  const parts = identifiers.flatMap(name => name.match(/\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})/gu) ?? [])
  return new Set([...identifiers, ...parts].map(word => word.toLowerCase()))
}
