/** Bodies of `querent trust …`, `querent agents …` and `querent federations …`. */
import type { CommonFlags } from '../flags.ts'
import * as render from '../render/agents.ts'
import { aggregateText } from '../render/aggregate.ts'
import type { Cli } from '../run.ts'
import { show } from './beliefs-call.ts'
import { levelsOf, objectIn } from './beliefs-input.ts'
import type { Input } from './input.ts'

export interface TrustFlags extends CommonFlags {
  readonly domain?: readonly string[]
  readonly basis?: readonly string[]
  readonly persistent?: true
  readonly exposed?: true
  readonly context?: string
}

export interface AgentFlags extends CommonFlags {
  readonly label?: string
  readonly did?: string
  readonly reputation?: number
  readonly reputationIn?: readonly string[]
  readonly trustGraph?: string
}

export interface FederationFlags extends CommonFlags {
  readonly label?: string
  readonly did?: string
  readonly open?: true
  readonly strict?: true
  readonly aggregate?: true
  readonly sensitive?: true
  readonly epsilon?: number
  readonly dailyEpsilon?: number
  readonly reputation?: number
}

export interface AggregateFlags extends CommonFlags {
  readonly domain?: string
}

export interface MemberFlags extends CommonFlags {
  readonly status?: string
  readonly role?: string
  readonly permission?: readonly string[]
}

export async function runTrustSet(cli: Cli, target: string, level: number, flags: TrustFlags): Promise<void> {
  const { domain, basis, persistent, exposed } = flags
  const input = {
    target,
    trust_level: level,
    ...(domain !== undefined && { domain_trust: levelsOf(domain, '--domain') }),
    ...(basis !== undefined && { basis: basis.map(type => ({ type, confidence: 1 })) }),
    ...(persistent && { persistent: true }),
    ...(exposed && { exposure: 'exposed' }),
  }
  await show(cli, flags, 'trust.set', input, ({ edge }: { edge: render.Edge }, style) =>
    render.edgesText([edge], style),
  )
}

export async function runTrustRemove(cli: Cli, target: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'trust.remove', { target }, ({ removed }: { removed: boolean }) =>
    removed ? `trust in ${target} removed\n` : `there was no trust in ${target}\n`,
  )
}

export async function runTrustList(cli: Cli, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'trust.list', {}, ({ edges }: { edges: render.Edge[] }, style) =>
    render.edgesText(edges, style),
  )
}

export async function runTrustCompute(cli: Cli, target: string, flags: TrustFlags): Promise<void> {
  const { context, domain } = flags
  const asked = { ...(domain !== undefined && { query_domains: domain }), ...objectIn(context, '--context') }
  const input = { target, ...(Object.keys(asked).length > 0 && { context: asked }) }
  await show(cli, flags, 'trust.compute', input, render.fieldsText)
}

export async function runAgent(cli: Cli, act: 'create' | 'update', id: string, flags: AgentFlags): Promise<void> {
  const { label, did, reputation, reputationIn, trustGraph } = flags
  const input = {
    id,
    ...(label !== undefined && { label }),
    ...(did !== undefined && { did }),
    ...(reputation !== undefined && { reputation }),
    ...(reputationIn !== undefined && { reputation_by_domain: levelsOf(reputationIn, '--reputation-in') }),
    ...(trustGraph !== undefined && { trust_graph: trustGraph }),
  }
  await show(cli, flags, `agents.${act}`, input, ({ agent }: { agent: Input }) => render.fieldsText(agent))
}

export async function runAgentList(cli: Cli, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'agents.list', {}, ({ agents }: { agents: render.Agent[] }, style) =>
    render.agentsText(agents, style, cli.io.stdout.columns),
  )
}

export async function runFederationCreate(cli: Cli, id: string, flags: FederationFlags): Promise<void> {
  const { label, did, open, strict, aggregate, sensitive, epsilon, dailyEpsilon, reputation } = flags
  const input = {
    id,
    ...(label !== undefined && { label }),
    ...(did !== undefined && { did }),
    ...(open && { joining: 'open' }),
    ...(strict && { anonymity: 'strict' }),
    ...(aggregate && { results: 'aggregate' }),
    ...(sensitive && { sensitive: true }),
    ...(epsilon !== undefined && { query_epsilon: epsilon }),
    ...(dailyEpsilon !== undefined && { daily_epsilon: dailyEpsilon }),
    ...(reputation !== undefined && { reputation }),
  }
  await show(cli, flags, 'federations.create', input, federationText)
}

export async function runJoin(cli: Cli, federation: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'federations.join', { federation }, federationText)
}

export async function runLeave(cli: Cli, federation: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'federations.leave', { federation }, membershipText)
}

export async function runSetMember(cli: Cli, federation: string, agent: string, flags: MemberFlags): Promise<void> {
  const { status, role, permission } = flags
  const input = {
    ...{ federation, agent },
    ...(status !== undefined && { status }),
    ...(role !== undefined && { role }),
    ...(permission !== undefined && { permissions: permission.includes('all') ? null : permission }),
  }
  await show(cli, flags, 'federations.set_member', input, membershipText)
}

export async function runAggregate(
  cli: Cli,
  federation: string,
  topic: string | undefined,
  { domain, ...flags }: AggregateFlags,
): Promise<void> {
  const input = { federation, ...(topic !== undefined && { topic }), ...(domain !== undefined && { domain }) }
  await show(cli, flags, 'federations.aggregate', input, aggregateText)
}

export async function runFederationList(cli: Cli, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'federations.list', {}, ({ federations }: { federations: render.Federation[] }, style) =>
    render.federationsText(federations, style),
  )
}

/** Operations answer with the one or with both. */
function federationText(answer: { federation?: Input; membership?: Input }): string {
  return render.fieldsText(answer.federation ?? answer.membership ?? {})
}

function membershipText({ membership }: { membership: Input }): string {
  return render.fieldsText(membership)
}
