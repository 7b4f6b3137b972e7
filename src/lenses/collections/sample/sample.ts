/**
 * Sample data for the lens `collections`: items (signals) and analyses that refer to them, in English and Spanish. The URLs point to
 * example.org and lead nowhere.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { DAY_MS } from '../request.ts'
import analysisFile from './analysis.json' with { type: 'json' }
import itemsFile from './items.json' with { type: 'json' }

export interface SampleRecord {
  readonly id: string
  readonly collection: 'items' | 'analysis'
  readonly title: string
  readonly content: string
  readonly metadata: JsonObject
}

/** Makes the sample records. Their dates are set relative to `now`, so that a filter by days always keeps some and drops some. */
export function sampleRecords(now: Instant): readonly SampleRecord[] {
  const day = (daysAgo: number): string => new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10)
  const items = itemsFile.map(({ id, lang, daysAgo, title, content, source, signal }) => ({
    ...{ id, collection: 'items' as const, title, content },
    metadata: {
      ...{ title, lang, source_type: source, signal_score: signal, date: day(daysAgo) },
      source_url: `https://example.org/${source}/${id}`,
    },
  }))
  const analyses = analysisFile.map(
    ({ id, lang, daysAgo, about, title, content, actionability, confidence, signal }) => ({
      ...{ id, collection: 'analysis' as const, title, content },
      metadata: {
        ...{ title, lang, actionability, confidence, signal_score: signal, analyzed_at: day(daysAgo) },
        ...(about !== null && { item_id: about }),
      },
    }),
  )
  return [...items, ...analyses]
}
