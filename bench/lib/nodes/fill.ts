/** Beliefs of one of several nodes, all shared with one federation: generated prose and vectors, none that another node has. */
import { sha256 } from '../../../src/base/canonical.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { putBelief } from '../../../src/lenses/beliefs/record/write.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../../src/store/core-tables.ts'
import { generated, ROWS } from '../stand-in.ts'
import { ZipfTexts } from '../text-data.ts'

export const FEDERATION = 'birds'
/** When all of them were made, a day before they are asked. */
const MADE_AT = Date.UTC(2025, 11, 31)
const HOLDERS = 100
const STEP = 1_000

/** `member`: whoever else is in the federation. */
export function fillNode(engine: Engine, model: string, number: number, count: number, member: string): void {
  const { store } = engine.host('beliefs')
  const texts = new ZipfTexts(100 + number)
  store.write(MADE_AT, writer => {
    writer.table(FEDERATIONS).put({ id: FEDERATION, label: null, created_at: MADE_AT })
    const join = (agent: string) =>
      writer.table(MEMBERSHIPS).put({ federation: FEDERATION, agent, status: 'active', updated_at: MADE_AT })
    join(member)
    for (let at = 0; at < HOLDERS; at++) {
      writer.table(AGENTS).put({ id: `holder-${at}`, label: null, created_at: MADE_AT, reputation: null })
      join(`holder-${at}`)
    }
  })
  let last = 0
  for (let from = 0; from < count; from += STEP) {
    store.write(MADE_AT, writer => {
      for (let at = from; at < from + STEP; at++) {
        const content = texts.prose(30)
        putBelief(
          { writer, holder: `holder-${at % HOLDERS}`, now: MADE_AT, model, newId: () => `node-${number}-belief-${at}` },
          {
            ...DRAFT,
            content,
            contentHash: sha256(content),
            confidence: { ...DRAFT.confidence, source_reliability: (at % 100) / 100 },
          },
        )
      }
      const made = writer.scanEntries(last, STEP)
      last = made.at(-1) as number
      writer.putVectors(
        model,
        made.map((entry, at) => ({
          chunk: writer.chunksOf(entry)[0]?.key as number,
          vector: generated((number * count + from + at) % ROWS),
        })),
      )
    })
  }
}

const DRAFT = {
  id: null,
  confidence: {
    source_reliability: 0.5,
    method_quality: 0.5,
    internal_consistency: 0.5,
    temporal_freshness: 1,
    corroboration: 0.5,
    domain_applicability: 0.5,
  },
  validFrom: MADE_AT,
  validUntil: null,
  derivation: { type: 'observation', sources: [], method_description: null, confidence_rationale: null, note: null },
  domains: ['birds'],
  visibility: 'federated',
  federationIds: [FEDERATION],
} as const
