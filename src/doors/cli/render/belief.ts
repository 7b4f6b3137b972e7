/** One belief as people are shown it: what it says, what is known of it, and what it was derived from. */

import { printable } from '../../../base/printable.ts'
import { fieldsText } from './agents.ts'
import { oneLine } from './style.ts'

export interface BeliefView {
  readonly id: string
  readonly version: number
  readonly content: string
  readonly confidence: Readonly<Record<string, number | null>>
  readonly valid_from: string
  readonly valid_until: string | null
  readonly derivation: {
    readonly type: string
    readonly sources: readonly {
      readonly belief_id: string | null
      readonly external_ref: string | null
      readonly contribution_type: string
    }[]
  }
  readonly domains: readonly string[]
  readonly visibility: string
  readonly federation_ids: readonly string[]
  readonly holder_id: string | null
  readonly created_at: string
  readonly supersedes: string | null
  readonly superseded_by: string | null
  readonly deleted_at: string | null
}

export interface Chain {
  readonly chain: readonly {
    readonly belief_id: string
    readonly depth: number
    readonly contribution_type: string | null
    readonly content_preview: string
    readonly derivation_type: string
  }[]
}

export interface Written {
  readonly belief?: BeliefView
  readonly beliefs?: readonly BeliefView[]
}

export function writtenText(answer: Written): string {
  return (answer.beliefs ?? [answer.belief as BeliefView]).map(({ id }) => `${id}\n`).join('')
}

export interface WithHistory {
  readonly belief: BeliefView
  readonly history?: readonly BeliefView[]
}

export function beliefText({ belief, history = [] }: WithHistory): string {
  const older = history
    .filter(({ id }) => id !== belief.id)
    .map(({ id, version, created_at, content }) => `${created_at}  ${version}  ${oneLine(id)}  ${oneLine(content)}\n`)
  return factsText(belief) + (older.length === 0 ? '' : `\nother versions\n${older.join('')}`)
}

function factsText(belief: BeliefView): string {
  const { content, derivation, confidence, ...rest } = belief
  const sources = derivation.sources.map(
    ({ belief_id, external_ref, contribution_type }) => `${belief_id ?? external_ref} (${contribution_type})`,
  )
  const facts = {
    id: rest.id,
    version: rest.version,
    holder: rest.holder_id ?? 'not shown',
    visibility: [rest.visibility, ...rest.federation_ids].join(' '),
    domains: rest.domains.join(', '),
    created: rest.created_at,
    valid: `${rest.valid_from} to ${rest.valid_until ?? 'further notice'}`,
    confidence: Object.entries(confidence)
      .map(([name, value]) => `${name} ${value ?? 'unknown'}`)
      .join(', '),
    derivation: derivation.type,
    ...(sources.length > 0 && { sources: sources.join(', ') }),
    ...(rest.supersedes !== null && { supersedes: rest.supersedes }),
    ...(rest.superseded_by !== null && { superseded_by: rest.superseded_by }),
    ...(rest.deleted_at !== null && { deleted: rest.deleted_at }),
  }
  return `${fieldsText(facts)}\n${printable(content)}\n`
}

/** What came first is the belief itself; each line says what the one before rests on, and as what if not as primary. */
export function chainText({ chain }: Chain): string {
  return chain
    .map(({ belief_id, depth, contribution_type: contribution, content_preview, derivation_type }) => {
      const as = contribution === null || contribution === 'primary' ? '' : ` (${contribution})`
      const name = `${'  '.repeat(depth)}${depth === 0 ? '' : '← '}${oneLine(belief_id)}${as}`
      return `${name}  ${derivation_type}  ${oneLine(content_preview)}`
    })
    .map(line => `${line}\n`)
    .join('')
}
