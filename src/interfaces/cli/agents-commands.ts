/**
 * Commands `querent trust …`, `agents …`, `federations …` and `peers …`: manage agents, federations (groups of agents), the trust between
 * agents, and other nodes.
 */
import { reportedWithCode } from './beliefs-commands.ts'
import { type CommandGroup, command } from './operation-command.ts'
import { all, each, lines, type Print, rows } from './render/answer.ts'

const EDGE = ['LEVEL=trust_level 2', 'IN=target', 'updated day', 'BY DOMAIN=domain_trust', 'persistent']

export const TRUST: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'set <target> <trust_level>',
      creates: true,
      examples: ['querent trust set ben 0.8 --domain science/biology=0.95  # more in one domain'],
      flags: {
        domain_trust: 'domain',
        basis: { name: 'basis', each: 'type', help: 'what it rests on, such as MANUAL, which decays slowly' },
      },
      shorthands: { exposed: 'exposure=exposed' },
      print: all<object>(rows('edge', EDGE), each('warnings', '{message}', 'note')),
    },
    { name: 'remove <target>' },
    { name: 'list', print: rows('edges', EDGE, 'no trust stated') },
    {
      name: 'compute <target>',
      examples: ['querent trust compute ben --domain medical  # for medical knowledge'],
      flags: {
        'context.requester_id': null,
        'context.query_domains': 'domain',
        context: { help: 'all of these as JSON, as in a query, such as {"max_trust_hops": 2}' },
      },
    },
  ],
}

const REPUTATIONS = { reputation_by_domain: 'reputation-in' } as const

export const AGENTS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'create <id>',
      creates: true,
      examples: ['querent agents create ann --label "Reads papers"  # then --viewer ann'],
      flags: REPUTATIONS,
    },
    { name: 'update <id>', flags: REPUTATIONS },
    { name: 'list', print: rows('agents', ['AGENT=id', 'reputation 2', 'trust_graph', 'label'], 'no agents') },
  ],
}

const FEDERATION = ['FEDERATION=id', 'results', 'anonymity', 'YOU=membership.role', 'membership.status']

const NO_FIGURES = 'no figures (fewer than {rules.least_members} members, or not enough beyond them)'
const FIGURES =
  'about {summary.member_count} members, {summary.belief_count} beliefs (within {rules.member_noise} and {rules.belief_noise} of ' +
  'the truth, 95 times in 100; at most three beliefs count of each)'

const aggregateText: Print<{ readonly aggregate: { readonly summary: object | null } }> = all(
  (answer, shown) => {
    const figures = answer.aggregate.summary === null ? NO_FIGURES : FIGURES
    return each('aggregate', `{"|topic|"}{|domain|} in {federation_id} on {epoch}: ${figures}`)(answer, shown)
  },
  each('budget', 'epsilon {epsilon_charged} charged, {epsilon_left} of {epsilon_per_day} left until {renews_at}'),
)

export const FEDERATIONS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'create <id>',
      creates: true,
      examples: ['querent federations create lab --viewer ann  # ann founds it, and adds members with set-member'],
      flags: { query_epsilon: 'epsilon' },
      shorthands: {
        strict: 'anonymity=strict',
        pseudonyms: 'anonymity=pseudonyms',
        aggregate: 'results=aggregate',
      },
    },
    { name: 'leave <federation>' },
    {
      name: 'set-member <federation> <agent>',
      examples: ['querent federations set-member lab ben --status suspended  # ben sees nothing of it for now'],
      flags: { permissions: { help: 'query_beliefs, share_beliefs, view_aggregates, or all' } },
      input: ({ permissions, ...input }) => ({
        ...input,
        ...(permissions !== undefined && { permissions: [permissions].flat().includes('all') ? null : permissions }),
      }),
    },
    command<{ readonly aggregate: { readonly summary: object | null } }>({
      name: 'aggregate <federation> [topic]',
      examples: [
        'querent federations aggregate lab "coral bleaching" --viewer ann  # with noise, so that no member is given away',
      ],
      embeds: true,
      print: aggregateText,
    }),
    {
      name: 'list',
      print: rows(
        'federations',
        [...FEDERATION, 'MEMBERS=members.agent_id', 'THEIR STATUS=members.status'],
        'no federations',
      ),
    },
  ],
}

interface AddedPeer {
  readonly identity: string
}

export const PEERS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    command<AddedPeer>({
      name: 'add <address>',
      creates: true,
      examples: [
        'querent peers add https://node.example:7411  # asked for public beliefs, under the key that it answers with',
        'querent peers add https://node.example:7411 --did did:key:z6Mk... --federation lab  # queried for members of lab',
      ],
      print: all<AddedPeer>(
        each('peer', '{id} at {address}'),
        each('peer', '{did}'),
        each('peer', 'queried for {network public beliefs/no public beliefs}{, |federations|}'),
        ({ identity }) =>
          lines(
            identity === 'first_use'
              ? ['its key was taken from its own answer: compare it with the key that its owner gives']
              : [],
          ),
      ),
    }),
    {
      name: 'list',
      print: rows('peers', ['PEER=id', 'address', 'PUBLIC=network', 'federations'], 'no peers'),
    },
    { name: 'remove <id>' },
  ],
}
