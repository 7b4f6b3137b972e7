/** What the commands on trust, agents and federations print for people. */
import { fieldsText as plainFieldsText } from './fields.ts'
import type { Style } from './style.ts'
import { textTable } from './table.ts'

export interface Edge {
  readonly target: string
  readonly trust_level: number
  readonly domain_trust: Readonly<Record<string, number>>
  readonly persistent: boolean
  readonly updated: string
}

export interface Agent {
  readonly id: string
  readonly label: string | null
  readonly did: string | null
  readonly reputation: number | null
  readonly trust_graph: string | null
}

export interface Federation {
  readonly id: string
  readonly label: string | null
  readonly joining: string
  readonly results: string
  readonly anonymity: string
  readonly membership: { readonly status: string; readonly role: string } | null
  readonly members?: readonly { readonly agent_id: string; readonly status: string; readonly role: string }[]
}

export function edgesText(edges: readonly Edge[], style: Style): string {
  if (edges.length === 0) return 'no trust stated\n'
  return textTable(
    [
      { title: 'LEVEL', align: 'right', cell: edge => edge.trust_level.toFixed(2) },
      { title: 'IN', cell: edge => edge.target },
      { title: 'UPDATED', cell: edge => edge.updated.slice(0, 10) },
      { title: 'BY DOMAIN', cell: edge => domainsText(edge.domain_trust) + (edge.persistent ? ' persistent' : '') },
    ],
    edges,
    style,
  )
}

export function agentsText(agents: readonly Agent[], style: Style, width?: number): string {
  if (agents.length === 0) return 'no agents\n'
  return textTable(
    [
      { title: 'AGENT', cell: agent => agent.id },
      { title: 'REPUTATION', align: 'right', cell: agent => agent.reputation?.toFixed(2) ?? '-' },
      { title: 'TRUST GRAPH', cell: agent => agent.trust_graph ?? '-' },
      { title: 'LABEL', cell: agent => agent.label ?? '' },
    ],
    agents,
    style,
    width,
  )
}

export function federationsText(federations: readonly Federation[], style: Style): string {
  if (federations.length === 0) return 'no federations\n'
  return textTable(
    [
      { title: 'FEDERATION', cell: one => one.id },
      { title: 'JOINING', cell: one => one.joining },
      { title: 'HOLDERS', cell: holdersText },
      { title: 'YOU', cell: ({ membership }) => (membership === null ? '-' : memberText(membership)) },
      { title: 'MEMBERS', cell: one => membersText(one) },
    ],
    federations,
    style,
  )
}

function holdersText({ results, anonymity }: Federation): string {
  if (results === 'aggregate') return 'figures only'
  return anonymity === 'strict' ? 'not shown' : 'pseudonyms'
}

/** Numbers to four decimals: `--json` has all. */
export function fieldsText(answer: Readonly<Record<string, unknown>>): string {
  return plainFieldsText(answer, rounded)
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(4)) : value
}

/** For those who are told. */
function membersText({ members }: Federation): string {
  if (members === undefined) return '-'
  return members
    .map(({ agent_id, ...one }) => (one.status === 'active' ? agent_id : `${agent_id} (${one.status})`))
    .join(', ')
}

function memberText({ status, role }: { readonly status: string; readonly role: string }): string {
  return status === 'active' ? role : status
}

function domainsText(domains: Readonly<Record<string, number>>): string {
  return Object.entries(domains)
    .map(([domain, level]) => `${domain} ${level}`)
    .join(', ')
}
