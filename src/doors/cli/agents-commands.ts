/** `querent trust …`, `agents …`, `federations …` and `peers …`: agents, groups of them, their trust, and other nodes. */
import { reportedWithCode } from './commands/beliefs-input.ts'
import { type CommandGroup, command } from './operation-command.ts'
import { all, type Columns, each, facts, lines, type Print, rows } from './render/answer.ts'

const EDGE: Columns<{ readonly domain_trust: object; readonly persistent: boolean }> = {
  LEVEL: 'trust_level 2',
  IN: 'target',
  UPDATED: 'updated day',
  'BY DOMAIN': 'domain_trust',
  PERSISTENT: 'persistent',
}

export const TRUST: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'set <target> <trust_level>',
      examples: [
        'querent trust set ben 0.8 --domain science/biology=0.95  # more in one domain',
        'querent trust set eve 0 --viewer ann  # ann distrusts eve',
      ],
      flags: {
        domain_trust: 'domain',
        basis: { name: 'basis', each: 'type', help: 'what it rests on, such as MANUAL, which decays slowly' },
      },
      shorthands: { exposed: 'exposure=exposed' },
      creates: true,
      print: rows('edge', EDGE),
    },
    command<{ readonly removed: boolean }>({
      name: 'remove <target>',
      print: ({ removed }, { input: { target } }) =>
        removed ? `trust in ${target} removed\n` : `there was no trust in ${target}\n`,
    }),
    { name: 'list', print: rows('edges', EDGE, 'no trust stated') },
    {
      name: 'compute <target>',
      examples: ['querent trust compute ben --domain medical  # where medical knowledge is asked for'],
      flags: {
        'context.requester_id': null,
        'context.query_domains': 'domain',
        context: { help: 'all of these as JSON, as in a query, such as {"max_trust_hops": 2}' },
      },
      print: facts(),
    },
  ],
}

const REPUTATIONS = { reputation_by_domain: 'reputation-in' } as const

export const AGENTS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'create <id>',
      examples: ['querent agents create ann --label "Reads papers"  # then --viewer ann'],
      flags: REPUTATIONS,
      creates: true,
      print: facts('agent'),
    },
    { name: 'update <id>', flags: REPUTATIONS, print: facts('agent') },
    {
      name: 'list',
      print: rows(
        'agents',
        { AGENT: 'id', REPUTATION: 'reputation 2', 'TRUST GRAPH': 'trust_graph', LABEL: 'label' },
        'no agents',
      ),
    },
  ],
}

interface Federation {
  readonly results: string
  readonly anonymity: string
  readonly membership: Member | null
  /** For those who may see them. */
  readonly members?: readonly (Member & { readonly agent_id: string })[]
}

interface Member {
  readonly status: string
  readonly role: string
}

const FEDERATION: Columns<Federation> = {
  FEDERATION: 'id',
  JOINING: 'joining',
  HOLDERS: ({ results, anonymity }) => {
    return results === 'aggregate' ? 'figures only' : anonymity === 'strict' ? 'not shown' : 'pseudonyms'
  },
  YOU: ({ membership }) => (membership?.status === 'active' ? membership.role : membership?.status),
  MEMBERS: ({ members }) =>
    members?.map(({ agent_id, status }) => (status === 'active' ? agent_id : `${agent_id} (${status})`)),
}

interface AggregateAnswer {
  readonly aggregate: { readonly topic: string | null; readonly domain: string | null; readonly summary: object | null }
}

const NO_FIGURES = 'no figures (fewer than {rules.least_members} members, or not enough beyond them)'
const FIGURES =
  'about {summary.member_count} members, {summary.belief_count} beliefs (within {rules.member_noise} and {rules.belief_noise} of ' +
  'the truth, 95 times in 100; at most three beliefs count of each)'

const aggregateText: Print<AggregateAnswer> = all<AggregateAnswer>(
  (answer, shown) => {
    const { topic, domain, summary } = answer.aggregate
    const about = topic === null ? domain : `"${topic}"`
    const template = `${about} in {federation_id} on {epoch}: ${summary === null ? NO_FIGURES : FIGURES}`
    return each('aggregate', template)(answer, shown)
  },
  each('budget', 'epsilon {epsilon_charged} charged, {epsilon_left} of {epsilon_per_day} left until {renews_at}'),
)

export const FEDERATIONS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    {
      name: 'create <id>',
      examples: ['querent federations create lab --open --viewer ann  # ann founds it; anybody here may join'],
      flags: { query_epsilon: 'epsilon' },
      shorthands: { open: 'joining=open', strict: 'anonymity=strict', aggregate: 'results=aggregate' },
      creates: true,
      print: facts('federation'),
    },
    {
      name: 'join <federation>',
      examples: ['querent federations join lab --viewer ben  # as ben'],
      print: facts('federation|membership'),
    },
    {
      name: 'leave <federation>',
      examples: ['querent federations leave lab --viewer ben  # as ben'],
      print: facts('membership'),
    },
    {
      name: 'set-member <federation> <agent>',
      operation: 'federations.set_member',
      examples: [
        'querent federations set-member lab ben  # ben is in',
        'querent federations set-member lab ben --status suspended  # ben sees nothing of it for now',
      ],
      flags: { permissions: { help: 'query_beliefs, share_beliefs, view_aggregates, or all' } },
      input: ({ permissions, ...input }) => ({
        ...input,
        ...(permissions !== undefined && { permissions: [permissions].flat().includes('all') ? null : permissions }),
      }),
      print: facts('membership'),
    },
    command<AggregateAnswer>({
      name: 'aggregate <federation> [topic]',
      examples: [
        'querent federations aggregate lab "coral bleaching" --viewer ann  # with noise, so that no member is given away',
        'querent federations aggregate lab --domain science/biology  # in a domain and below it',
      ],
      embeds: true,
      print: aggregateText,
    }),
    { name: 'list', print: rows('federations', FEDERATION, 'no federations') },
  ],
}

interface Peer {
  readonly id: string
  readonly address: string
  readonly did: string
  readonly network: boolean
  readonly federations: readonly string[]
}

interface AddedPeer {
  readonly peer: Peer
  readonly identity: string
  readonly reached: boolean
}

function requested({ network, federations }: Peer): string {
  return [...(network ? ['public beliefs'] : []), ...federations].join(', ') || 'nothing'
}

function addedText({ peer, identity, reached }: AddedPeer): string {
  const compare = 'its key was taken from its own answer: compare it with what its owner says'
  const key = identity === 'first_use' ? compare : reached ? 'it answers with this key' : 'it does not answer now'
  return lines([`${peer.id} at ${peer.address}`, peer.did, `asked for ${requested(peer)}; ${key}`])
}

const PEER: Columns<Peer> = {
  PEER: 'id',
  ADDRESS: 'address',
  'ASKED FOR': requested,
  'LAST ANSWER': 'last_success minute',
}

interface Probe {
  readonly ok: boolean
  readonly reason: string | null
  readonly same_model: boolean | null
  readonly clock_difference_ms: number | null
}

const PROBE: Columns<Probe> = {
  PEER: 'id',
  ANSWERS: ({ ok, reason }) => (ok ? 'yes' : `no: ${reason}`),
  MS: 'latency_ms 1',
  CLOCK: ({ clock_difference_ms: ms }) => (ms === null ? null : `${ms < 0 ? '' : '+'}${(ms / 1000).toFixed(1)} s`),
  MODEL: ({ same_model: same }) => (same === null ? null : same ? 'the same' : 'another'),
}

export const PEERS: CommandGroup = {
  around: reportedWithCode,
  commands: [
    command<AddedPeer>({
      name: 'add <address>',
      examples: [
        'querent peers add https://node.example:7411  # asked for public beliefs, under the key that it shows now',
        'querent peers add https://node.example:7411 --did did:key:z6Mk... --federation lab  # asked by members of lab',
      ],
      creates: true,
      print: addedText,
    }),
    { name: 'list', print: rows('peers', PEER, 'no peers') },
    {
      name: 'probe [id]',
      examples: ['querent peers probe  # which of them answer, how fast, and by which clock'],
      print: rows('probes', PROBE, 'no peers'),
    },
    {
      name: 'discover <id>',
      examples: ['querent peers discover node.example-7411  # then: querent peers add'],
      print: rows('proposed', { THERE: 'id', HERE: 'known_as', ADDRESS: 'address', KEY: 'did' }, 'it names none'),
    },
    command<{ readonly removed: boolean }>({
      name: 'remove <id>',
      print: ({ removed }, { input: { id } }) => (removed ? `${id} is asked no more\n` : `there was no peer ${id}\n`),
    }),
  ],
}
