/** Languages of queries and entries: which model supports a language, and which thresholds apply to a pair of languages. */
import type { Calibration, EmbeddingModel } from '../embed/embedder.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Note } from '../model/page.ts'
import { languagesOfQuestion, shownLanguage } from '../text/language.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

/** Hint shown to users who need an embedding model for more languages: how to get one. */
export const GET_MODEL =
  'To search by meaning in other languages: `npm run model:multilingual` in a checkout of Querent, then `querent model use multilingual`.'

/** Language of a text as ISO 639-1; null: English, or not recognisable. One function word that only another language has is enough. */
export function foreignLanguage(text: string): string | null {
  const shown = shownLanguage(text)
  if (shown !== null) return shown === 'en' ? null : shown
  const [first = 'en'] = languagesOfQuestion(text.match(/[\p{L}\p{M}]+/gu) ?? [])
  return first === 'en' ? null : first
}

/** Whether an embedding model supports these languages; a model that declares no languages counts as supporting all. */
export function knowsLanguage({ languages = [] }: Pick<QueryContext, 'languages'>, language: string): boolean {
  return languages.length === 0 || languages.includes(language)
}

/** Whether a query's text is clearly in a language that no embedding model supports. */
export function isInUnknownLanguage({ parsed: { residual } }: Plan, context: QueryContext): boolean {
  const language = context.languages === undefined ? null : shownLanguage(residual)
  return language !== null && !knowsLanguage(context, language)
}

/** A note for the user where the first of the results shown is in a language that no embedding model supports; otherwise no notes. */
export function languageNotes(shown: readonly EntryKey[], plan: Plan, context: QueryContext): readonly Note[] {
  const { languages, memo, reader } = context
  if (languages === undefined || plan.vector === null) return []
  const [first] = memo.shownLanguages(reader, shown.slice(0, 1))
  if (first === undefined || first.of === null || knowsLanguage(context, first.of)) return []
  return [{ code: 'other_language', message: `No model knows the language of the first result. ${GET_MODEL}` }]
}

/**
 * Thresholds (cosines that count as evidence) for a query and a passage in the given languages. `query` and `passage`: their languages;
 * null where not recognisable.
 */
export function barsFor(
  { calibration, languagePairs }: Pick<EmbeddingModel, 'calibration' | 'languagePairs'>,
  query: string | null,
  passage: string | null,
): Calibration | null {
  if (!languagePairs || query === null || passage === null) return calibration
  return languagePairs.pairs[`${query}-${passage}`] ?? (query === passage ? calibration : languagePairs.across)
}

/** The thresholds by which the verdict judges the entry that is nearest to the query in meaning. */
export interface NearestBars {
  /** Cosine between the query and this entry by the embedding model that compared them, on that model's own scale. */
  readonly cosine: number
  readonly cosineScale: number
  /** Calibration (measured thresholds) of the model that compared the entry; null: the model was not calibrated. */
  readonly calibration: Calibration | null
  /** Whether the query and the entry are in different languages; false where a language is not recognisable. */
  readonly isAcross: boolean
}

/**
 * The thresholds for the nearest entry. `score`: its cosine as the search by meaning returned it, on the scale of the first embedding
 * model.
 */
export function nearestBars(
  score: number,
  nearest: EntryKey | undefined,
  text: string,
  context: QueryContext,
): NearestBars {
  const { languages, memo, reader, second } = context
  const first = context.model
  const entries = nearest === undefined ? [] : [nearest]
  const isBySecond = first !== null && second !== undefined && foreignEntries(entries, first, context).size > 0
  const model = isBySecond ? second.model : first
  const by = { cosine: isBySecond ? second.cosineOf(score) : score, cosineScale: model?.cosineScale ?? 1 }
  const knowsOne = languages === undefined || (languages.length <= 1 && !model?.languagePairs)
  if (model === null || knowsOne) return { ...by, calibration: model?.calibration ?? null, isAcross: false }
  const [asked, found] = [
    foreignLanguage(text) ?? shownLanguage(text),
    memo.shownLanguages(reader, entries)[0]?.of ?? null,
  ]
  const isAcross = asked !== null && found !== null && asked !== found
  return { ...by, calibration: barsFor(model, asked, found), isAcross }
}

/** Those of the given entries whose language the embedding model does not support. */
export function foreignEntries(
  entries: readonly EntryKey[],
  model: EmbeddingModel,
  { memo, reader }: Pick<QueryContext, 'memo' | 'reader'>,
): ReadonlySet<EntryKey> {
  const shown = memo.shownLanguages(reader, entries)
  return new Set(shown.flatMap(({ key, of }) => (of === null || knowsLanguage(model, of) ? [] : key)))
}
