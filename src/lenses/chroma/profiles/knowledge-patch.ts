/**
 * Structured questions about changes to knowledge: `paradigm | subdomains | cutoff | release | format`, as in
 * `ai_tools | claude:tools:updates | 2025-06-01 | latest | xml`; with fewer fields plain language (CQ-107 to CQ-116).
 */
import { normaliseHashtag } from '../colour/hashtag.ts'
import { QueryProfileError, UnknownHashtagError } from '../errors.ts'
import type { QueryParams, ResultRow } from '../model.ts'
import type { ParseContext, PostContext } from './context.ts'
import { readQuestion } from './default-profile.ts'
import { cutoffOf } from './knowledge-cutoff.ts'
import { fullPath, withLayoutTraits, withPath } from './knowledge-rows.ts'
import { QueryProfile } from './query-profile.ts'

export interface KnowledgePatchOptions {
  /** Tags added to a path that is too short for the zone rules, by paradigm (CQ-109). */
  readonly implicitTags?: Readonly<Record<string, readonly string[]>> | undefined
  /** Plain language is an error (CQ-116). */
  readonly strict?: boolean | undefined
}

/** What the parse tells the post-process hook, and the caller who asks what was understood. */
export interface KnowledgePatchState {
  readonly full_path: string | null
  /** As written; empty when none was. */
  readonly release: string
  readonly format: string
}

/** Candidates for the exact path; a structured question is narrowed afterwards. */
const K = 100
const MIN_FIELDS = 3
const MAX_FIELDS = 5

const RELEASE_WORD = /(?<![\p{L}\p{N}_#-])(?:latest|beta|v\d(?:[\w.-]*\w)?)(?![\p{L}\p{N}_-])/iu

export class KnowledgePatchQueryProfile extends QueryProfile {
  readonly #implicitTags: ReadonlyMap<string, readonly string[]>
  readonly #strict: boolean

  constructor(options: KnowledgePatchOptions = {}) {
    super()
    this.#implicitTags = new Map(Object.entries(options.implicitTags ?? {}))
    this.#strict = options.strict === true
  }

  override parseInput(text: string, context: ParseContext): QueryParams {
    const fields = text.split('|').map(field => field.trim())
    if (fields.length > MAX_FIELDS) throw fault('fields', `at most ${MAX_FIELDS} fields`, String(fields.length))
    if (fields.length >= MIN_FIELDS) return this.#structured(fields, context)
    if (this.#strict) throw fault('fields', `${MIN_FIELDS} to ${MAX_FIELDS} fields between |`, String(fields.length))
    return natural(text, context)
  }

  override postProcess(rows: ResultRow[], { state }: PostContext): ResultRow[] {
    const wanted = (state as KnowledgePatchState | undefined)?.full_path ?? null
    return withLayoutTraits(wanted === null ? rows : withPath(rows, wanted))
  }

  #structured(
    [paradigm = '', subdomains = '', cutoff = '', release = '', format = '']: string[],
    context: ParseContext,
  ) {
    if (paradigm === '') throw fault('paradigm', 'a paradigm in the first field', paradigm)
    if (!/[^\s:]/.test(subdomains)) throw fault('subdomains', 'segments between colons', subdomains)
    const path = fullPath(paradigm, subdomains)
    const tail = path.split(':').slice(1).join(':')
    const state: KnowledgePatchState = { full_path: path, release, format: format.toLowerCase() }
    return {
      hashtags: this.#tagsOf(paradigm, path, context),
      k: K,
      temporalRange: [cutoffOf(cutoff, context.now, fault), context.now] as const,
      metadataFilters: {
        paradigm,
        subdomain_path: tail === '' ? [path] : [path, tail],
        release_status: statusesOf(release),
      },
      state,
    }
  }

  #tagsOf(paradigm: string, path: string, context: ParseContext): readonly string[] {
    const tags = path.split(':').map(segment => `#${segment}`)
    const unknown = new Set(tags.filter(tag => context.resolve(tag) === null).map(tag => normaliseHashtag(tag)))
    if (unknown.size > 0) throw new UnknownHashtagError([...unknown])
    if (context.isValid(tags)) return tags
    return context.complete([...tags, ...(this.#implicitTags.get(paradigm) ?? [])])
  }
}

function natural(text: string, context: ParseContext): QueryParams {
  const { hashtags, k, temporalRange } = readQuestion(text, context)
  const [release] = RELEASE_WORD.exec(text) ?? []
  const state: KnowledgePatchState = { full_path: null, release: release ?? '', format: '' }
  return {
    hashtags: context.complete(hashtags),
    k: k ?? K,
    ...(temporalRange !== null && { temporalRange }),
    ...(release !== undefined && { metadataFilters: { release_status: statusesOf(release) } }),
    state,
  }
}

/** CQ-111: which states of a release are meant; versions are not told apart. */
function statusesOf(release: string): readonly string[] {
  const name = release.toLowerCase()
  if (name === '' || name === 'latest') return ['public', 'lts', 'latest']
  return name === 'beta' ? ['beta', 'public', 'lts'] : ['public']
}

function fault(field: string, expected: string, value: string): QueryProfileError {
  const shown = JSON.stringify(value.slice(0, 80))
  const message = `knowledge_patch: ${field}: expected ${expected}, got ${shown}`
  return new QueryProfileError('profile_parse_failed', message, {
    profile: 'knowledge_patch',
    field,
    value: value.slice(0, 80),
    expected,
  })
}
