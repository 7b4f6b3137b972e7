/** The agent's day rule: how far back a question looks, by its words, in Spanish or English. */
import { fold } from '../../text/normalise.ts'

/** What is about trends needs the longer window, so it is looked for first. */
const WINDOWS: readonly (readonly [days: number, words: RegExp])[] = [
  [30, /\b(tendencias?|trends?|trending|trendy)\b/],
  [
    7,
    new RegExp(
      `\\b(${[
        'recien(te|tes|temente)?|nuev[oa]s?|novedad(es)?|ultim[oa]s?|hoy|ayer|esta\\s+semana|actualidad',
        'recent|recently|new|newest|news|latest|lately|today|yesterday|(this|last)\\s+week',
      ].join('|')})\\b`,
    ),
  ],
]

/** Null: no day filter. */
export function agentDays(question: string): number | null {
  const folded = fold(question)
  return WINDOWS.find(([, words]) => words.test(folded))?.[0] ?? null
}
