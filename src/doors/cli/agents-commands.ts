/** `querent trust …`, `agents …`, `federations …` and `peers …`: agents, groups of them, their trust, and other nodes. */
import type { Command } from 'commander'
import type { JsonObject } from '../../base/canonical.ts'
import { levelsOf, objectIn, reportedWithCode } from './commands/beliefs-input.ts'
import type { Forms } from './commands/print.ts'
import { collect } from './flags.ts'
import type { FlagNames } from './generated-flags.ts'
import { type CommandGroup, command, type OperationCommand } from './operation-command.ts'
import type { Agent, Edge, Federation } from './render/agents.ts'
import type { AggregateAnswer } from './render/aggregate.ts'
import type { AddedPeer, Peer, Probe, Proposed } from './render/peers.ts'

type Values = Readonly<Record<string, unknown>>

async function edgesForms(edges: readonly Edge[]): Promise<Forms> {
  const { edgesText } = await import('./render/agents.ts')
  return { table: style => edgesText(edges, style) }
}

async function fieldsForms(values: Values): Promise<Forms> {
  const { fieldsText } = await import('./render/agents.ts')
  return { table: () => fieldsText(values) }
}

/** The value of a flag, where it was given. */
function given<T>(value: unknown, of: (value: T) => JsonObject): JsonObject {
  return value === undefined ? {} : of(value as T)
}

const TRUST: CommandGroup = {
  name: 'trust',
  about: 'whom you trust, how far, and in what',
  around: reportedWithCode,
  commands: [
    command<{ readonly edge: Edge }>({
      name: 'set <agent> <level>',
      operation: 'trust.set',
      about: 'state how far you trust another agent, 0 (distrust) to 1',
      examples: [
        ['querent trust set ben 0.8 --domain science/biology=0.95', 'more in one domain'],
        ['querent trust set eve 0 --viewer ann', 'ann distrusts eve'],
      ],
      arguments: ['target', 'trust_level'],
      flags: { domain_trust: null, basis: null },
      more: made =>
        made
          .option('--domain <path=level>', 'in this domain another level (repeatable)', collect)
          .option('--basis <type>', 'what it rests on, such as MANUAL, which decays slowly (repeatable)', collect)
          .option('--exposed', 'the same as --exposure exposed'),
      input: (input, { domain, basis, exposed }) => ({
        ...input,
        ...given<readonly string[]>(domain, levels => ({ domain_trust: levelsOf(levels, '--domain') })),
        ...given<readonly string[]>(basis, types => ({ basis: types.map(type => ({ type, confidence: 1 })) })),
        ...(exposed === true && { exposure: 'exposed' }),
      }),
      creates: true,
      print: ({ edge }) => edgesForms([edge]),
    }),
    command<{ readonly removed: boolean }>({
      name: 'remove <agent>',
      operation: 'trust.remove',
      about: 'take a statement of trust back',
      examples: [['querent trust remove ben', 'a stranger again']],
      arguments: ['target'],
      print: ({ removed }, _cli, _flags, { target }) => ({
        table: () => (removed ? `trust in ${target} removed\n` : `there was no trust in ${target}\n`),
      }),
    }),
    command<{ readonly edges: readonly Edge[] }>({
      name: 'list',
      operation: 'trust.list',
      about: 'list your statements of trust',
      examples: [['querent trust list --viewer ann', "ann's own"]],
      print: ({ edges }) => edgesForms(edges),
    }),
    command<Values>({
      name: 'compute <agent>',
      operation: 'trust.compute',
      about: 'show what your trust in an agent comes to, and how it is made',
      examples: [['querent trust compute ben --domain medical', 'where medical knowledge is asked for']],
      arguments: ['target'],
      flags: { context: null },
      more: made =>
        made
          .option('--domain <path>', 'what is asked about (repeatable)', collect)
          .option('--context <json>', 'as in a query, such as {"max_trust_hops": 2}'),
      input: (input, { domain, context }) => {
        const asked = {
          ...given<readonly string[]>(domain, domains => ({ query_domains: domains })),
          ...objectIn(context as string | undefined, '--context'),
        } as JsonObject
        return { ...input, ...(Object.keys(asked).length > 0 && { context: asked }) }
      },
      print: fieldsForms,
    }),
  ],
}

const AGENT_FLAGS: FlagNames = { reputation_by_domain: null }

function withReputations(made: Command): Command {
  return made.option('--reputation-in <path=level>', 'reputation in this domain (repeatable)', collect)
}

function agentOf(input: JsonObject, { reputationIn }: Values): JsonObject {
  return {
    ...input,
    ...given<readonly string[]>(reputationIn, levels => ({
      reputation_by_domain: levelsOf(levels, '--reputation-in'),
    })),
  }
}

function agentCommand(entry: Pick<OperationCommand, 'name' | 'operation' | 'about' | 'examples' | 'creates'>) {
  return command<{ readonly agent: Values }>({
    ...entry,
    arguments: ['id'],
    flags: AGENT_FLAGS,
    more: withReputations,
    input: agentOf,
    print: ({ agent }) => fieldsForms(agent),
  })
}

const AGENTS: CommandGroup = {
  name: 'agents',
  about: 'agents that this node hosts',
  around: reportedWithCode,
  commands: [
    agentCommand({
      name: 'create <id>',
      operation: 'agents.create',
      about: 'host an agent',
      examples: [['querent agents create ann --label "Reads papers"', 'then --viewer ann']],
      creates: true,
    }),
    agentCommand({
      name: 'update <id>',
      operation: 'agents.update',
      about: 'change what is known of an agent',
      examples: [['querent agents update ann --reputation 0.7', 'the owner may']],
    }),
    command<{ readonly agents: readonly Agent[] }>({
      name: 'list',
      operation: 'agents.list',
      about: 'list agents: all for the owner',
      examples: [['querent agents list', 'with reputations']],
      print: async ({ agents }, { io }) => {
        const { agentsText } = await import('./render/agents.ts')
        return { table: style => agentsText(agents, style, io.stdout.columns) }
      },
    }),
  ],
}

/** Operations answer with the federation, the membership, or both. */
function federationForms({ federation, membership }: { federation?: Values; membership?: Values }): Promise<Forms> {
  return fieldsForms(federation ?? membership ?? {})
}

const FEDERATIONS: CommandGroup = {
  name: 'federations',
  about: 'groups of agents that share beliefs',
  around: reportedWithCode,
  commands: [
    command({
      name: 'create <id>',
      operation: 'federations.create',
      about: 'found a federation; you are its first member',
      examples: [['querent federations create lab --open --viewer ann', 'ann founds it; anybody here may join']],
      arguments: ['id'],
      flags: { query_epsilon: 'epsilon' },
      more: made =>
        made
          .option('--open', 'the same as --joining open: agents may join by themselves')
          .option('--strict', 'the same as --anonymity strict: results show no holders, not even pseudonyms')
          .option(
            '--aggregate',
            'the same as --results aggregate: no single beliefs are shown, only figures with noise',
          ),
      input: (input, { open, strict, aggregate }) => ({
        ...input,
        ...(open === true && { joining: 'open' }),
        ...(strict === true && { anonymity: 'strict' }),
        ...(aggregate === true && { results: 'aggregate' }),
      }),
      creates: true,
      print: federationForms,
    }),
    command({
      name: 'join <id>',
      operation: 'federations.join',
      about: 'join an open federation',
      examples: [['querent federations join lab --viewer ben', 'as ben']],
      arguments: ['federation'],
      print: federationForms,
    }),
    command<{ readonly membership: Values }>({
      name: 'leave <id>',
      operation: 'federations.leave',
      about: 'leave a federation',
      examples: [['querent federations leave lab --viewer ben', 'as ben']],
      arguments: ['federation'],
      print: ({ membership }) => fieldsForms(membership),
    }),
    command<{ readonly membership: Values }>({
      name: 'set-member <federation> <agent>',
      operation: 'federations.set_member',
      about: 'add a member, or change one',
      examples: [
        ['querent federations set-member lab ben', 'ben is in'],
        ['querent federations set-member lab ben --status suspended', 'ben sees nothing of it for now'],
      ],
      arguments: ['federation', 'agent'],
      flags: { permissions: null },
      more: made =>
        made.option(
          '--permission <name>',
          'query_beliefs, share_beliefs, view_aggregates, or all (repeatable)',
          collect,
        ),
      input: (input, { permission }) => ({
        ...input,
        ...given<readonly string[]>(permission, names => ({ permissions: names.includes('all') ? null : names })),
      }),
      print: ({ membership }) => fieldsForms(membership),
    }),
    command<AggregateAnswer>({
      name: 'aggregate <federation> [topic]',
      operation: 'federations.aggregate',
      about: 'ask how many members hold how many beliefs on a topic',
      examples: [
        [
          'querent federations aggregate lab "coral bleaching" --viewer ann',
          'with noise, so that no member is given away',
        ],
        ['querent federations aggregate lab --domain science/biology', 'in a domain and below it'],
      ],
      arguments: ['federation', 'topic'],
      embeds: true,
      print: async answer => {
        const { aggregateText } = await import('./render/aggregate.ts')
        return { table: () => aggregateText(answer) }
      },
    }),
    command<{ readonly federations: readonly Federation[] }>({
      name: 'list',
      operation: 'federations.list',
      about: 'list federations: all for the owner',
      examples: [['querent federations list --viewer ann', "ann's"]],
      print: async ({ federations }) => {
        const { federationsText } = await import('./render/agents.ts')
        return { table: style => federationsText(federations, style) }
      },
    }),
  ],
}

const PEERS: CommandGroup = {
  name: 'peers',
  about: 'other nodes that this one asks',
  around: reportedWithCode,
  commands: [
    command<AddedPeer>({
      name: 'add <address>',
      operation: 'peers.add',
      about: 'add a node, or change what is known of it',
      examples: [
        ['querent peers add https://node.example:7411', 'asked for public beliefs, under the key that it shows now'],
        [
          'querent peers add https://node.example:7411 --did did:key:z6Mk... --federation lab',
          'asked by members of lab',
        ],
      ],
      arguments: ['address'],
      creates: true,
      print: async answer => {
        const { addedText } = await import('./render/peers.ts')
        return { table: () => addedText(answer) }
      },
    }),
    command<{ readonly peers: readonly Peer[] }>({
      name: 'list',
      operation: 'peers.list',
      about: 'list the nodes that are asked',
      examples: [['querent peers list', 'and when they last answered']],
      print: async ({ peers }) => {
        const { peersText } = await import('./render/peers.ts')
        return { table: style => peersText(peers, style) }
      },
    }),
    command<{ readonly probes: readonly Probe[] }>({
      name: 'probe [id]',
      operation: 'peers.probe',
      about: 'ask nodes who they are: all, or one',
      examples: [['querent peers probe', 'which of them answer, how fast, and by which clock']],
      arguments: ['id'],
      print: async ({ probes }) => {
        const { probesText } = await import('./render/peers.ts')
        return { table: style => probesText(probes, style) }
      },
    }),
    command<{ readonly proposed: readonly Proposed[] }>({
      name: 'discover <id>',
      operation: 'peers.discover',
      about: 'ask a node which others it knows; none is added',
      examples: [['querent peers discover node.example-7411', 'then: querent peers add']],
      arguments: ['id'],
      print: async ({ proposed }) => {
        const { proposedText } = await import('./render/peers.ts')
        return { table: style => proposedText(proposed, style) }
      },
    }),
    command<{ readonly removed: boolean }>({
      name: 'remove <id>',
      operation: 'peers.remove',
      about: 'ask a node no more',
      examples: [['querent peers remove node.example-7411', 'gone']],
      arguments: ['id'],
      print: ({ removed }, _cli, _flags, { id }) => ({
        table: () => (removed ? `${id} is asked no more\n` : `there was no peer ${id}\n`),
      }),
    }),
  ],
}

export const AGENTS_GROUPS: readonly CommandGroup[] = [TRUST, AGENTS, FEDERATIONS, PEERS]
