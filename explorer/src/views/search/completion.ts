/** What the word before the caret could become. */
import type { SuggestedField, Suggestion } from '../../../../src/model/suggest.ts'

/** The word that is being typed, and where it stands. */
export interface Typed {
  readonly start: number
  readonly end: number
  /** `+` or `-` before it. */
  readonly sign: string
  /** Null: any of them. */
  readonly field: SuggestedField | null
  readonly prefix: string
}

export interface Completion {
  readonly label: string
  /** Beside the label: what it is, how often there is. */
  readonly remark: string
  /** The whole text with it, and the place of the caret. */
  readonly text: string
  readonly caret: number
}

const FIELDS: Readonly<Record<string, SuggestedField>> = {
  collection: 'collection',
  kind: 'kind',
  tag: 'tag',
  tags: 'tag',
  holder: 'holder',
}

/** Null: the caret stands behind no word. */
export function typedAt(text: string, caret: number): Typed | null {
  const word = /\S+$/.exec(text.slice(0, caret))?.[0]
  if (word === undefined) return null
  const [, sign = '', name = '', value] = /^([+-]?)(?:([a-z]+):)?(.*)$/.exec(word) ?? []
  const field = FIELDS[name] ?? null
  if (field === null && (name !== '' || /["\\]/.test(word))) return null
  return { start: caret - word.length, end: caret, sign, field, prefix: (value ?? '').replace(/^"/, '') }
}

export function completionsOf(
  text: string,
  typed: Typed | null,
  suggestions: readonly Suggestion[],
  recent: readonly string[],
): readonly Completion[] {
  const named = typed === null ? [] : suggestions.map(one => completed(text, typed, one))
  return [...named, ...again(text, recent)]
}

/** Questions that begin as this one does. */
function again(text: string, recent: readonly string[]): readonly Completion[] {
  const begin = text.trimStart().toLowerCase()
  return recent
    .filter(asked => asked.toLowerCase().startsWith(begin) && asked !== text)
    .slice(0, 5)
    .map(asked => ({ label: asked, remark: 'asked before', text: asked, caret: asked.length }))
}

function completed(
  text: string,
  { start, end, sign, field }: Typed,
  { field: of, value, count }: Suggestion,
): Completion {
  // A sign before a bare word is about the word; as part of a field it means something else.
  const head = field === null ? '' : sign === '-' ? '-' : ''
  const inserted = `${head}${of}:${quoted(value)} `
  return {
    label: value,
    remark: `${of}, ${count}`,
    text: text.slice(0, start) + inserted + text.slice(end).trimStart(),
    caret: start + inserted.length,
  }
}

function quoted(value: string): string {
  return /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}
