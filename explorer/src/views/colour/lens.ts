/** What the view asks the lens chroma for. None of it counts as a use of what is shown. */
import type { PointsPage } from '../../../../src/lenses/chroma/nodes/points.ts'
import { call } from '../../api/call.ts'

/** Nodes a page. */
export const PAGE = 5_000
/** How far the view looks ahead. */
export const DAYS = 365
/** Hits of one question. */
const HITS = 12

export function pointsFrom(offset: number, signal: AbortSignal): Promise<PointsPage> {
  return call('chroma.points', { offset, limit: PAGE }, signal)
}

/** Input of `chroma.query`. Words that all begin with `#` are hashtags; others are a text. Null: nothing is asked. */
export function inputOf(question: string): object | null {
  const words = question.split(/[\s,]+/).filter(word => word !== '')
  if (words.length === 0) return null
  const asked = words.every(word => word.startsWith('#')) ? { hashtags: words } : { input: question }
  return { ...asked, k: HITS, update_access: false }
}
