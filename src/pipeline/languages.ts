/** Languages of queries and entries, for the choice of a model: which one knows a language, and which bars hold for a pair. */
import type { Calibration, EmbeddingModel } from '../embed/embedder.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Note } from '../model/page.ts'
import { languagesOfQuestion, shownLanguage } from '../text/language.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

/** Where a model that knows more languages comes from; said to whoever would need it. */
export const GET_MODEL =
  'To search by meaning in other languages: `npm run model:multilingual` in a checkout of Querent, then `querent model use multilingual`.'

/** As ISO 639-1; null: English, or nothing shows it. One function word of another language alone is enough. */
export function foreignLanguage(text: string): string | null {
  const shown = shownLanguage(text)
  if (shown !== null) return shown === 'en' ? null : shown
  const [first = 'en'] = languagesOfQuestion(text.match(/[\p{L}\p{M}]+/gu) ?? [])
  return first === 'en' ? null : first
}

/** A model whose languages are not said knows all. */
export function knowsLanguage({ languages = [] }: Pick<QueryContext, 'languages'>, language: string): boolean {
  return languages.length === 0 || languages.includes(language)
}

/** Whether a query is clearly in a language that no model knows. */
export function isInUnknownLanguage({ parsed: { residual } }: Plan, context: QueryContext): boolean {
  const language = context.languages === undefined ? null : shownLanguage(residual)
  return language !== null && !knowsLanguage(context, language)
}

/** Says so where the first of these entries is in a language that no model knows. */
export function languageNotes(shown: readonly EntryKey[], plan: Plan, context: QueryContext): readonly Note[] {
  const { languages, memo, reader } = context
  if (languages === undefined || plan.vector === null) return []
  const [first] = memo.shownLanguages(reader, shown.slice(0, 1))
  if (first === undefined || first.of === null || knowsLanguage(context, first.of)) return []
  return [{ code: 'other_language', message: `No model knows the language of the first result. ${GET_MODEL}` }]
}

/** The bars for a query about a passage. `query` and `passage`: null where nothing shows the language. */
export function barsFor(
  { calibration, languagePairs }: Pick<EmbeddingModel, 'calibration' | 'languagePairs'>,
  query: string | null,
  passage: string | null,
): Calibration | null {
  if (!languagePairs || query === null || passage === null) return calibration
  return languagePairs.pairs[`${query}-${passage}`] ?? (query === passage ? calibration : languagePairs.across)
}

/** What the evidence of the entry that is nearest in meaning is held against. */
export interface NearestBars {
  /** By the model that compared it, on its own scale. */
  readonly cosine: number
  readonly cosineScale: number
  /** Null: that model was not calibrated. */
  readonly calibration: Calibration | null
  /** Whether query and entry are in two languages, as far as they show it. */
  readonly isAcross: boolean
}

/** `score`: as the legs give it, on the first model's scale. */
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

/** Of these entries, those in a language that the model does not know. */
export function foreignEntries(
  entries: readonly EntryKey[],
  model: EmbeddingModel,
  { memo, reader }: Pick<QueryContext, 'memo' | 'reader'>,
): ReadonlySet<EntryKey> {
  const shown = memo.shownLanguages(reader, entries)
  return new Set(shown.flatMap(({ key, of }) => (of === null || knowsLanguage(model, of) ? [] : key)))
}
