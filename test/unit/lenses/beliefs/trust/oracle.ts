/** The plain implementation of trust over the rows of a store, everything read again. */
import { isStatementOf } from '../../../../../src/identity/messages.ts'
import { TRUST } from '../../../../../src/lenses/beliefs/tables.ts'
import { didOfAgent } from '../../../../../src/lenses/beliefs/trust/agent-facts.ts'
import { edgeOf, edgeStatement, type TrustEdge, type TrustRules } from '../../../../../src/lenses/beliefs/trust/edge.ts'
import { AGENTS } from '../../../../../src/store/core-tables.ts'
import type { StoreReader } from '../../../../../src/store/store.ts'
import { Oracle, type PlainAgent } from '../../../../support/trust-oracle.ts'

export function oracleOf(reader: StoreReader, rules: TrustRules, asOf: number): Oracle {
  const edges = reader
    .table(TRUST)
    .scan()
    .flatMap(row => edgeOf(row) ?? [])
    .filter(edge => isSigned(edge, didOfAgent(reader, edge.owner)))
    .map(({ basis, exposure, ...edge }) => {
      return { ...edge, manual: basis.some(({ type }) => type === 'MANUAL'), exposed: exposure === 'exposed' }
    })
  const agents = reader
    .table(AGENTS)
    .scan()
    .map((row): readonly [string, PlainAgent] => [
      row['id'] as string,
      {
        createdAt: row['created_at'] as number,
        overall: row['reputation'] as number | null,
        byDomain: JSON.parse((row['reputation_by_domain'] as string | null) ?? '{}'),
      },
    ])
  return new Oracle({ edges, agents: new Map(agents) }, rules, asOf)
}

/** Each signature once: checking them is what takes the time. */
const SIGNED = new Map<string, boolean>()

function isSigned(edge: TrustEdge, did: string | null): boolean {
  if (did === null) return false
  const key = JSON.stringify([edge, did])
  const known = SIGNED.get(key) ?? isStatementOf(did, edgeStatement(edge), edge.signature)
  SIGNED.set(key, known)
  return known
}
