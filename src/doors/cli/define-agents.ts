/** `querent trust …`, `querent agents …` and `querent federations …`: who is here, with whom, and whom they trust. */
import type { Command } from 'commander'
import type { AgentFlags, AggregateFlags, FederationFlags, MemberFlags, TrustFlags } from './commands/agents.ts'
import { type Add, define, type Run, runsIn } from './define.ts'
import { type CommonFlags, collect, finiteNumber, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function defineAgentsCommands(program: Command, cli: Cli): void {
  const run: RunAgents = runsIn(
    cli,
    () => import('./commands/agents.ts'),
    async body => (await import('./commands/beliefs-call.ts')).toldWithCode(cli, body),
  )
  defineTrust(program, run, cli)
  defineAgents(program, run, cli)
  defineFederations(program, run, cli)
}

type RunAgents = Run<typeof import('./commands/agents.ts')>

function addTo(group: Command): Add {
  return (name, what, examples) => withFormat(withPlace(define(group, name, what, examples)))
}

function defineTrust(program: Command, run: RunAgents, cli: Cli): void {
  const trust = program.command('trust').description('whom you trust, how far, and in what')
  const add = addTo(trust)
  const set = add('set <agent> <level>', 'state how far you trust another agent, 0 (distrust) to 1', [
    ['querent trust set ben 0.8 --domain science/biology=0.95', 'more in one domain'],
    ['querent trust set eve 0 --viewer ann', 'ann distrusts eve'],
  ])
    .option('--domain <path=level>', 'in this domain another level (repeatable)', collect)
    .option('--basis <type>', 'what it rests on, such as MANUAL, which decays slowly (repeatable)', collect)
    .option('--persistent', 'it does not decay')
    .option('--exposed', 'other nodes may be told')
  run<[string, string], TrustFlags>(set, (commands, target, level, flags) =>
    commands.runTrustSet(cli, target, Number(level), flags),
  )
  const remove = add('remove <agent>', 'take a statement of trust back', [
    ['querent trust remove ben', 'a stranger again'],
  ])
  run<[string], CommonFlags>(remove, (commands, target, flags) => commands.runTrustRemove(cli, target, flags))

  const list = add('list', 'list your statements of trust', [['querent trust list --viewer ann', "ann's own"]])
  run<[], CommonFlags>(list, (commands, flags) => commands.runTrustList(cli, flags))

  const compute = add('compute <agent>', 'tell what your trust in an agent comes to, and of what kind it is', [
    ['querent trust compute ben --domain medical', 'where medical knowledge is asked for'],
  ])
    .option('--domain <path>', 'what is asked about (repeatable)', collect)
    .option('--context <json>', 'as in a query, such as {"max_trust_hops": 2}')
  run<[string], TrustFlags>(compute, (commands, target, flags) => commands.runTrustCompute(cli, target, flags))
}

function withAgent(command: Command): Command {
  return command
    .option('--label <text>', 'for people')
    .option('--did <did:key>', 'its own key; without one this node keeps a key for it')
    .option('--reputation <number>', '0 to 1', finiteNumber)
    .option('--reputation-in <path=level>', 'in this domain (repeatable)', collect)
    .option('--trust-graph <name>', 'what its trust graph may be called in a query')
}

function defineAgents(program: Command, run: RunAgents, cli: Cli): void {
  const agents = program.command('agents').description('agents that this node hosts')
  const add = addTo(agents)
  const create = withAgent(
    add('create <id>', 'host an agent', [['querent agents create ann --label "Reads papers"', 'then --viewer ann']]),
  )
  run<[string], AgentFlags>(create, (commands, id, flags) => commands.runAgent(cli, 'create', id, flags))

  const update = withAgent(
    add('update <id>', 'change what is known of an agent', [
      ['querent agents update ann --reputation 0.7', 'the owner may'],
    ]),
  )
  run<[string], AgentFlags>(update, (commands, id, flags) => commands.runAgent(cli, 'update', id, flags))

  const list = add('list', 'list agents: all for the owner', [['querent agents list', 'with reputations']])
  run<[], CommonFlags>(list, (commands, flags) => commands.runAgentList(cli, flags))
}

function defineFederations(program: Command, run: RunAgents, cli: Cli): void {
  const federations = program.command('federations').description('groups of agents that share beliefs')
  const add = addTo(federations)
  const create = add('create <id>', 'found a federation; you are its first member', [
    ['querent federations create lab --open --viewer ann', 'ann founds it; anybody here may join'],
  ])
    .option('--label <text>', 'for people')
    .option('--did <did:key>', 'its key')
    .option('--open', 'agents may join by themselves')
    .option('--strict', 'results show no holders, not even pseudonyms')
    .option('--aggregate', 'no single beliefs are shown, only figures with noise')
    .option('--sensitive', 'with --aggregate: only of topics that ten members hold something of, not five')
    .option(
      '--epsilon <number>',
      'with --aggregate: privacy that an answer may cost, 0.1 to 5 (default 1)',
      finiteNumber,
    )
    .option(
      '--daily-epsilon <number>',
      'with --aggregate: of all answers to a member in a day (default 10)',
      finiteNumber,
    )
    .option('--reputation <number>', '0 to 1', finiteNumber)
  run<[string], FederationFlags>(create, (commands, id, flags) => commands.runFederationCreate(cli, id, flags))

  const join = add('join <id>', 'join an open federation', [['querent federations join lab --viewer ben', 'as ben']])
  run<[string], CommonFlags>(join, (commands, id, flags) => commands.runJoin(cli, id, flags))

  const leave = add('leave <id>', 'leave a federation', [['querent federations leave lab --viewer ben', 'as ben']])
  run<[string], CommonFlags>(leave, (commands, id, flags) => commands.runLeave(cli, id, flags))

  const member = add('set-member <federation> <agent>', 'add a member, or change one', [
    ['querent federations set-member lab ben', 'ben is in'],
    ['querent federations set-member lab ben --status suspended', 'ben sees nothing of it for now'],
  ])
    .option('--status <name>', 'active, suspended or departed')
    .option('--role <name>', 'founder, admin, moderator, member or observer')
    .option('--permission <name>', 'query_beliefs, share_beliefs, view_aggregates, or all (repeatable)', collect)
  run<[string, string], MemberFlags>(member, (commands, federation, agent, flags) =>
    commands.runSetMember(cli, federation, agent, flags),
  )
  const aggregate = add('aggregate <federation> [topic]', 'ask how many members hold how many beliefs on a topic', [
    ['querent federations aggregate lab "coral bleaching" --viewer ann', 'with noise, so that no member is given away'],
    ['querent federations aggregate lab --domain science/biology', 'in a domain and below it'],
  ]).option('--domain <path>', 'in place of a topic')
  run<[string, string | undefined], AggregateFlags>(aggregate, (commands, federation, topic, flags) =>
    commands.runAggregate(cli, federation, topic, flags),
  )

  const list = add('list', 'list federations: all for the owner', [['querent federations list --viewer ann', "ann's"]])
  run<[], CommonFlags>(list, (commands, flags) => commands.runFederationList(cli, flags))
}
