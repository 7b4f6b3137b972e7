/** `querent beliefs …`: what agents hold true. */
import type { Command } from 'commander'
import type { JsonObject } from '../../base/canonical.ts'
import { invalidArgument } from '../../model/errors.ts'
import { beliefOf, queryOf, reportedWithCode, scopeOf, withoutPage } from './commands/beliefs-input.ts'
import { parsed, pipedText, textOf } from './commands/input.ts'
import { type Forms, print } from './commands/print.ts'
import { define, runs } from './define.ts'
import { type CommonFlags, collect, finiteNumber, withFormat, withLive, withPlace } from './flags.ts'
import { type FlagNames, liveFlags } from './generated-flags.ts'
import { addGroup, type CommandGroup, command, type Flags } from './operation-command.ts'
import { withProgress } from './progress.ts'
import type { Chain, WithHistory, Written } from './render/belief.ts'
import type { Expanded, Gathered } from './render/belief-context.ts'
import type { Count, Facets } from './render/belief-counts.ts'
import type { Explained } from './render/belief-explained.ts'
import type { Answer, Batch, Contradictions, StreamEnd } from './render/beliefs.ts'
import type { Cli } from './run.ts'
import { withSession } from './session.ts'

/** What a query takes through `--filter`, `--context`, `--options` and the names of scopes, and what is of no use in a command. */
function queryFlags(at: string): FlagNames {
  return {
    [`${at}filters`]: null,
    [`${at}context.requester_id`]: null,
    [`${at}context.confidence_weights`]: null,
    [`${at}context.ranking_weights`]: null,
    [`${at}context.query_domains`]: 'about',
    [`${at}options.scope`]: null,
    [`${at}options.include_explanation`]: 'explain',
    [`${at}options.include_derivation`]: 'derivation',
    [`${at}options.diversity.enabled`]: 'diverse',
    [`${at}options.stream`]: null,
    [`${at}options.chunk_size`]: null,
  }
}

/** Of operations on what a query matches in all. */
function matchFlags(at: string): FlagNames {
  return {
    ...queryFlags(at),
    ...Object.fromEntries(
      ['limit', 'offset', 'cursor', 'include_explanation', 'include_derivation', 'diversity', 'dry_run'].map(name => [
        `${at}options.${name}`,
        null,
      ]),
    ),
  }
}

function withScope(made: Command): Command {
  return made
    .option('--local', 'only your own beliefs, and those of the other scopes that are named')
    .option('--federated', 'only what is shared with your federations, likewise')
    .option('--network', 'only what is public, likewise (default: all three)')
}

function withFilters(made: Command): Command {
  return withScope(made)
    .option(
      '--filter <what>',
      'a preset (high_confidence, recent, verified, from_trusted) or JSON (repeatable)',
      collect,
    )
    .option('--domain <path>', 'only in this domain, such as science/biology (repeatable)', collect)
    .option('--min-confidence <number>', 'only with at least this overall confidence', finiteNumber)
    .option('--context <json>', 'more of the context, such as {"ranking_weights": {"trust": 0.5}}')
    .option('--options <json>', 'more of the options, such as {"scope": {"nodes": ["lab"]}}')
}

function atRoot(input: JsonObject, flags: Flags): JsonObject {
  return queryOf(input, flags)
}

function inQuery(input: JsonObject, flags: Flags): JsonObject {
  return { ...input, query: queryOf(input['query'] as JsonObject, flags) }
}

async function answerForms(answer: Answer, { io }: Cli): Promise<Forms> {
  const { answerText } = await import('./render/beliefs.ts')
  return { table: style => answerText(answer, style, io.stdout.columns) }
}

/** Of what is asked about one belief. */
const ABOUT: FlagNames = { context: null, scope: null, 'options.scope': null }

function aboutOf(input: JsonObject, flags: Flags): JsonObject {
  const options = (input['options'] ?? {}) as JsonObject
  return { ...input, options: { ...options, scope: scopeOf(flags) } }
}

const WRITES: FlagNames = {
  beliefs: null,
  confidence: null,
  derivation: null,
  content_hash: null,
  federation_ids: { name: 'federation', help: 'share it with this federation' },
  valid_until: { help: 'ISO 8601 with its zone, or never' },
}

function withBelief(made: Command): Command {
  return made
    .option('--confidence <json>', 'by dimension, such as {"method_quality": 0.9}')
    .option('--type <name>', 'how it was come by: observation, inference, hearsay, …')
    .option('--from <source>', 'what it rests on: the id of a belief, or an address (repeatable)', collect)
}

async function putOf({ content, ...input }: JsonObject, flags: Flags, cli: Cli): Promise<JsonObject> {
  const belief = beliefOf(input, flags)
  const file = flags['file']
  if (typeof file === 'string') return { ...belief, beliefs: parsed(await textOf(cli, file), file) as never }
  return { ...belief, content: content ?? (await pipedText(cli)) }
}

async function supersedeOf({ belief_id, wait, ...input }: JsonObject, flags: Flags, cli: Cli): Promise<JsonObject> {
  const changes = beliefOf(input, flags)
  if (Object.keys(changes).length === 0)
    throw invalidArgument('options', '', 'at least one of those that say what to change')
  const content = changes['content'] === '-' ? await pipedText(cli) : changes['content']
  return {
    ...changes,
    belief_id: belief_id as string,
    ...(content !== undefined && { content }),
    ...(wait !== undefined && { wait }),
  }
}

/** A belief a line as they come; conflicts and counts are reported at the end. */
async function streamEnd(rest: JsonObject, count: number): Promise<string> {
  const { streamEndText } = await import('./render/beliefs.ts')
  // The cast: what the pieces declare.
  return streamEndText(count, rest as unknown as StreamEnd)
}

const BELIEFS: CommandGroup = {
  name: 'beliefs',
  about: 'what agents hold true: by meaning, confidence, trust in the holder, and time',
  around: reportedWithCode,
  commands: [
    command<Answer>({
      name: 'query [words...]',
      operation: 'beliefs.query',
      about: 'find beliefs for a query; without words, all that the filters let through',
      examples: [
        ['querent beliefs query "climate change" --local', 'among your own'],
        ['querent beliefs query vaccines +trial -cancer --viewer ann', 'as ann; near "trial", far from "cancer"'],
        ['querent beliefs query --filter recent --domain medical', 'a list, without a query'],
        ['querent beliefs query --limit 500 --stream --domain medical', 'belief by belief, as JSON lines'],
      ],
      arguments: ['semantic'],
      flags: queryFlags(''),
      more: withFilters,
      input: atRoot,
      embeds: true,
      stream: { list: 'beliefs', end: streamEnd },
      print: answerForms,
    }),
    command<Explained>({
      name: 'explain <id> [words...]',
      operation: 'beliefs.explain',
      about: 'show why a belief has its rank in an answer, and what would lift it',
      examples: [
        ['querent beliefs explain my-climate-rain climate', 'its parts, rank and hints'],
        ['querent beliefs explain a --over b climate', 'why a is ranked above b, or below it'],
      ],
      arguments: ['belief_id', 'query.semantic'],
      flags: { ...queryFlags('query.'), other_id: { name: 'over', help: 'compare with this belief' } },
      more: withFilters,
      input: inQuery,
      embeds: true,
      print: async answer => {
        const { explanationText } = await import('./render/belief-explained.ts')
        return { table: style => explanationText(answer, style) }
      },
    }),
    command<Count>({
      name: 'count [words...]',
      operation: 'beliefs.count',
      about: 'count what a query matches, in all and by scope',
      examples: [['querent beliefs count --domain medical', 'in a domain']],
      arguments: ['semantic'],
      flags: matchFlags(''),
      more: withFilters,
      input: (input, flags) => withoutPage(queryOf(input, flags)),
      print: async answer => {
        const { countText } = await import('./render/belief-counts.ts')
        return { table: () => countText(answer) }
      },
    }),
    command<Facets>({
      name: 'facets [words...]',
      operation: 'beliefs.facets',
      about: 'count what a query matches by value',
      examples: [['querent beliefs facets --filter recent --field domains --field holder_id', 'two fields']],
      arguments: ['query.semantic'],
      flags: matchFlags('query.'),
      more: withFilters,
      input: (input, flags) => ({ ...input, query: withoutPage(queryOf(input['query'] as JsonObject, flags)) }),
      print: async answer => {
        const { facetsText } = await import('./render/belief-counts.ts')
        return { table: style => facetsText(answer, style) }
      },
    }),
    command<Batch>({
      name: 'batch <file>',
      operation: 'beliefs.batch',
      about: 'ask up to 20 queries, a JSON list; `-` reads standard input',
      examples: [['querent beliefs batch queries.json --json', 'each is answered, or fails, on its own']],
      arguments: [{ json: 'queries' }],
      print: async (answer, { io }) => {
        const { batchText } = await import('./render/beliefs.ts')
        return { table: style => batchText(answer, style, io.stdout.columns) }
      },
    }),
    command<Gathered>({
      name: 'context [words...]',
      operation: 'beliefs.context_query',
      about: 'gather beliefs for a purpose, as many as fit into so many tokens',
      examples: [['querent beliefs context "mRNA vaccines" --purpose verify --max-tokens 500', 'for a prompt']],
      arguments: ['semantic'],
      flags: matchFlags(''),
      more: withFilters,
      input: (input, flags) => ({ purpose: 'answer', max_tokens: 1000, ...withoutPage(queryOf(input, flags)) }),
      embeds: true,
      print: async answer => {
        const { contextText } = await import('./render/belief-context.ts')
        return { table: style => contextText(answer, style) }
      },
    }),
    command({
      name: 'watch [words...]',
      operation: 'beliefs.watch',
      about: 'show what changes in the answer to a query, until Ctrl-C',
      examples: [
        ['querent beliefs watch "climate change" --viewer ann', 'a line for each belief that comes, changes or goes'],
        ['querent beliefs watch --domain medical --no-initial --json', 'events as JSON lines, from now on'],
      ],
      arguments: ['query.semantic'],
      flags: { ...queryFlags('query.'), ...liveFlags('options.'), ...liveFlags('') },
      more: made => withLive(withFilters(made)),
      input: inQuery,
      run: async (input, flags, cli) =>
        (await import('./commands/watch.ts')).watchOperation(cli, flags, 'beliefs.watch', input),
    }),
    command<WithHistory>({
      name: 'get <id>',
      operation: 'beliefs.get',
      about: 'read one belief',
      examples: [['querent beliefs get cd-warming', 'all of it']],
      arguments: ['belief_id'],
      flags: { include_superseded: { name: 'history', help: 'older versions too' } },
      print: async answer => {
        const { beliefText } = await import('./render/belief.ts')
        return { table: () => beliefText(answer) }
      },
    }),
    command<Answer>({
      name: 'similar <id>',
      operation: 'beliefs.similar',
      about: 'find beliefs that say nearly the same',
      examples: [['querent beliefs similar cd-warming', 'by meaning']],
      arguments: ['belief_id'],
      flags: { ...ABOUT, 'options.include_same_holder': 'same-holder' },
      more: withScope,
      input: aboutOf,
      print: answerForms,
    }),
    command<Contradictions>({
      name: 'contradictions <id>',
      operation: 'beliefs.contradictions',
      about: 'find beliefs that speak against one; heuristic',
      examples: [['querent beliefs contradictions br-no-dna', 'with the statements that are opposed']],
      arguments: ['belief_id'],
      flags: ABOUT,
      more: withScope,
      input: aboutOf,
      print: async answer => {
        const { contradictionsText } = await import('./render/beliefs.ts')
        return { table: style => contradictionsText(answer, style) }
      },
    }),
    command<Expanded>({
      name: 'expand <id>',
      operation: 'beliefs.expand',
      about: 'give what surrounds a belief, as much as fits',
      examples: [['querent beliefs expand my-vaccine-dna --max-tokens 400 --include derivation', 'what it rests on']],
      arguments: ['belief_id'],
      flags: { ...ABOUT, max_additional_tokens: { name: 'max-tokens', help: 'most tokens (default: 1000)' } },
      more: withScope,
      input: (input, flags) => ({ max_additional_tokens: 1000, ...input, scope: scopeOf(flags) }),
      print: async answer => {
        const { expandedText } = await import('./render/belief-context.ts')
        return { table: style => expandedText(answer, style) }
      },
    }),
    command<Chain>({
      name: 'derivation <id>',
      operation: 'beliefs.derivation',
      about: 'show what a belief was derived from, step by step',
      examples: [['querent beliefs derivation my-climate-warming', 'as far as you may see']],
      arguments: ['belief_id'],
      flags: ABOUT,
      print: async answer => {
        const { chainText } = await import('./render/belief.ts')
        return { table: () => chainText(answer) }
      },
    }),
    command<Written>({
      name: 'put [content]',
      operation: 'beliefs.put',
      about: 'store a belief that you hold; `-` reads it from standard input',
      examples: [
        ['querent beliefs put "Octopuses have three hearts." --domain science/biology', 'private'],
        ['querent beliefs put "…" --federation open-science --from my-note', 'shared, and what it rests on'],
        ['querent beliefs put --file beliefs.json', 'many, a JSON list: all of them or none'],
      ],
      arguments: ['content'],
      flags: WRITES,
      more: made =>
        withBelief(made).option('--file <path>', 'a JSON list of beliefs instead of one; `-` reads standard input'),
      input: putOf,
      creates: true,
      print: async answer => {
        const { writtenText } = await import('./render/belief.ts')
        return { table: () => writtenText(answer) }
      },
    }),
    command<Written>({
      name: 'supersede <id>',
      operation: 'beliefs.supersede',
      about: 'replace a belief of yours by a new version',
      examples: [
        [
          'querent beliefs supersede my-note --content "Nine hundred houses." --type correction',
          'the old one stays in its history',
        ],
      ],
      arguments: ['belief_id'],
      flags: WRITES,
      more: withBelief,
      input: supersedeOf,
      print: async answer => {
        const { writtenText } = await import('./render/belief.ts')
        return { table: () => writtenText(answer) }
      },
    }),
    command({
      name: 'delete <id>',
      operation: 'beliefs.delete',
      about: 'delete a belief of yours',
      examples: [['querent beliefs delete my-note', 'its id stays taken']],
      arguments: ['belief_id'],
      print: (_answer, _cli, _flags, { belief_id }) => ({ table: () => `${belief_id} deleted\n` }),
    }),
    command<JsonObject>({
      name: 'diagnostics',
      operation: 'beliefs.diagnostics',
      about: 'show how + and - are calibrated and how much was asked; the owner may',
      examples: [['querent beliefs diagnostics --no-calibrate', 'without some seconds of calibrating']],
      print: async answer => {
        const { fieldsText } = await import('./render/agents.ts')
        return { table: () => fieldsText(answer) }
      },
    }),
  ],
}

export function defineBeliefsCommands(program: Command, cli: Cli): void {
  const beliefs = addGroup(program, cli, BELIEFS).addHelpText(
    'after',
    '\nFirst steps:\n  querent beliefs sample\n  querent beliefs query --viewer my-agent-uuid climate\n',
  )
  const sample = define(beliefs, 'sample', 'load the sample: some 300 beliefs of 12 agents in three federations', [
    ['querent beliefs sample --home /tmp/try/.querent', 'into a store of its own'],
  ])
  runs<[], CommonFlags>(withFormat(withPlace(sample)), cli, flags => reportedWithCode(cli, () => runSample(cli, flags)))
}

async function runSample(cli: Cli, flags: CommonFlags): Promise<void> {
  // Loaded when it is wanted: other commands do without its data.
  const { loadBeliefsSample } = await import('../../engine/openings/sample-beliefs.ts')
  const { sampleText } = await import('./render/belief-counts.ts')
  const counts = await withProgress(cli.io, report => {
    const options = { create: true, onlyLenses: ['beliefs'], report }
    return withSession(cli, flags, options, ({ engine, context }) => loadBeliefsSample(engine, context.viewer, report))
  })
  await print(cli, flags, counts, { table: () => sampleText(counts) })
}
