/** Numbers in questions, and what plug-ins make of them: whatever one returns costs its own part only. */
import type { Json } from '../../../src/base/canonical.ts'
import { enrich } from '../../../src/lenses/c64/enrichment/enrich.ts'
import { formatEnrichment } from '../../../src/lenses/c64/enrichment/hits.ts'
import type { EnrichmentResult } from '../../../src/lenses/c64/enrichment/plugin.ts'
import { c64Domain } from '../../../src/lenses/c64/plugins.ts'
import { jsonNear, said, type Target } from '../inputs.ts'
import { assertEqual, must } from '../oracles.ts'

/** A question, and what two plug-ins answer. */
const SEEDS: readonly Json[] = [
  {
    query: 'What is at $D020 and 53280, &HFF or %1010?',
    answers: [{ additionalContext: ['a'], filterTags: ['t'] }, null],
  },
  {
    query: '1,000.50 or 0x1F_FF -7 1e5 $FFFFF 12:30 #10 3.14.15 %12',
    answers: [{ additionalContext: [' '], filterTags: [] }],
  },
  { query: 'POKE 53280,0: LDA #$01 STA $0400,X', answers: [{ additionalContext: 'x' }, { filterTags: [1] }] },
]
const WORDS = '$~%~&H~0x~#~,~.~-~e~53280~$D020~SID~VIC~POKE ~_~٣~１２~ and ~(~)~FFFF'.split('~')

export const enrichment: Target<Json> = {
  near: good => jsonNear(good, WORDS),
  seeds: SEEDS,
  open: async () => ({ try: tryQuestion }),
}

function tryQuestion(input: Json): void {
  const { query, answers } = (said(input) ?? {}) as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query.length > 10_000) return
  const given = Array.isArray(answers) ? answers : [answers]
  const plugins = given.slice(0, 5).map((answer, at) => ({ name: `p${at}`, enrich: () => answer as EnrichmentResult }))
  const domain = c64Domain({})
  const all = { ...domain, plugins: [...domain.plugins, ...plugins] }
  const first = enrich(query, all)
  assertEqual(enrich(query, all), first, 'enriched again')
  for (const { at } of first.numbers) {
    for (const place of at ?? []) must(place >= 0 && place < query.length, `a number at ${place} of ${query.length}`)
  }
  must(
    [...first.additionalContext, ...first.filterTags].every(text => typeof text === 'string'),
    'what a plug-in said is no text',
  )
  must(
    first.warnings.every(({ message }) => message !== ''),
    'a warning without words',
  )
  must(typeof formatEnrichment(first) === 'string', 'no text')
}
