/** `querent beliefs …`: what agents hold true. */
import type { JsonObject } from '../../base/canonical.ts'
import { invalidArgument } from '../../model/errors.ts'
import { beliefOf, queryOf, reportedWithCode, scopeOf } from './commands/beliefs-input.ts'
import { parsed, pipedText, textOf } from './commands/input.ts'
import { print } from './commands/print.ts'
import { watchOperation } from './commands/watch.ts'
import { type CommonFlags, withLive } from './flags.ts'
import { type FlagNames, liveFlags } from './generated-flags.ts'
import { type CommandGroup, command, type Flags } from './operation-command.ts'
import { withProgress } from './progress.ts'
import { all, each, PLAIN_TEXT } from './render/answer.ts'
import * as render from './render/beliefs.ts'
import type { Cli } from './run.ts'
import { withSession } from './session.ts'

/** What a query takes by flags of other names, and what is of no use in a command. */
function queryFlags(at: string): FlagNames {
  return {
    [`${at}filters`]: null,
    [`${at}context`]: { help: 'the context as JSON, such as {"ranking_weights": {"trust": 0.5}}' },
    [`${at}context.requester_id`]: null,
    [`${at}context.confidence_weights`]: null,
    [`${at}context.ranking_weights`]: null,
    [`${at}context.query_domains`]: 'about',
    [`${at}options`]: { help: 'the options as JSON, such as {"scope": {"nodes": ["lab"]}}' },
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
  const paged = ['limit', 'offset', 'cursor', 'include_explanation', 'include_derivation', 'diversity', 'dry_run']
  return { ...queryFlags(at), ...Object.fromEntries(paged.map(name => [`${at}options.${name}`, null])) }
}

const SCOPE = {
  '--local': 'only your own beliefs, and those of the other scopes that are named',
  '--federated': 'only what is shared with your federations, likewise',
  '--network': 'only what is public, likewise (default: all three)',
}

const FILTERS = {
  ...SCOPE,
  '--filter <what...>': 'a preset (high_confidence, recent, verified, from_trusted) or JSON (repeatable)',
  '--domain <path...>': 'only in this domain, such as science/biology (repeatable)',
  '--min-confidence <number>': 'only with at least this overall confidence',
}

function inQuery(input: JsonObject, flags: Flags): JsonObject {
  return { ...input, query: queryOf((input['query'] ?? {}) as JsonObject, flags) }
}

/** Shared by queries about one belief. */
const ABOUT = { flags: { context: null, scope: null, 'options.scope': null }, options: SCOPE, input: aboutOf } as const

function aboutOf(input: JsonObject, flags: Flags): JsonObject {
  return { ...input, options: { ...(input['options'] as JsonObject | undefined), scope: scopeOf(flags) } }
}

const WRITTEN = all<object>(each('belief|beliefs', '{id}'), each('warnings', '{message}', 'note'))

const WRITES: FlagNames = {
  beliefs: null,
  confidence: { isJson: true },
  derivation: null,
  content_hash: null,
  federation_ids: { name: 'federation', help: 'share it with this federation' },
  valid_until: { help: 'ISO 8601 with its zone, or never' },
}

const DERIVATION = {
  '--type <name>': 'how the holder came to it: observation, inference, hearsay, …',
  '--from <source...>': 'what it rests on: the id of a belief, or an address (repeatable)',
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
  return {
    ...changes,
    belief_id: belief_id as string,
    ...(changes['content'] === '-' && { content: await pipedText(cli) }),
    ...(wait !== undefined && { wait }),
  }
}

export const BELIEFS: CommandGroup = {
  around: reportedWithCode,
  firstSteps: ['querent beliefs sample', 'querent beliefs query --viewer my-agent-uuid climate'],
  commands: [
    command({
      name: 'query [words...]',
      about: 'find beliefs for a query; without words, list all that match the filters',
      examples: [
        'querent beliefs query "climate change" --local  # among your own',
        'querent beliefs query vaccines +trial -cancer --viewer ann  # as ann; near "trial", far from "cancer"',
        'querent beliefs query --filter recent --domain medical  # a list, without a query',
        'querent beliefs query --limit 500 --stream --domain medical  # belief by belief, as JSON lines',
      ],
      arguments: ['semantic'],
      flags: queryFlags(''),
      options: FILTERS,
      input: queryOf,
      embeds: true,
      stream: { list: 'beliefs', end: render.streamEndText },
      pages: { cursor: 'options.cursor', next: 'next_cursor' },
      print: render.answerText,
    }),
    command({
      name: 'explain <belief_id> [words...]',
      examples: ['querent beliefs explain a --over b climate  # why a is ranked above b, or below it'],
      arguments: ['belief_id', 'query.semantic'],
      flags: { ...queryFlags('query.'), other_id: { name: 'over', help: 'compare with this belief' } },
      options: FILTERS,
      input: inQuery,
      embeds: true,
      print: render.explanationText,
    }),
    command({
      name: 'count [words...]',
      arguments: ['semantic'],
      flags: matchFlags(''),
      options: FILTERS,
      input: queryOf,
      print: each('', '{total} ({by_scope})'),
    }),
    command<{ readonly facets: object }>({
      name: 'facets [words...]',
      examples: ['querent beliefs facets --filter recent --field domains --field holder_id  # two fields'],
      arguments: ['query.semantic'],
      flags: matchFlags('query.'),
      options: FILTERS,
      input: inQuery,
      print: ({ facets }, shown) =>
        Object.entries(facets)
          .map(([field, facet]) => {
            const values = each('values', '  {count}  {value}')(facet, shown)
            return `${shown.style.bold(field)}\n${values}${each('?other_count', '  {other_count}  others')(facet, shown)}`
          })
          .join(''),
    }),
    command({
      name: 'batch <file>',
      examples: ['querent beliefs batch queries.json --json  # each is answered, or fails, on its own'],
      arguments: [{ json: 'queries' }],
      print: render.batchText,
    }),
    command({
      name: 'context [words...]',
      operation: 'beliefs.context_query',
      examples: ['querent beliefs context "mRNA vaccines" --purpose verify --max-tokens 500  # for a prompt'],
      arguments: ['semantic'],
      flags: matchFlags(''),
      options: FILTERS,
      input: (input, flags) => ({ purpose: 'answer', max_tokens: 1000, ...queryOf(input, flags) }),
      embeds: true,
      print: render.contextText,
    }),
    command({
      name: 'watch [words...]',
      about: 'report changes of an answer until Ctrl-C',
      examples: [
        'querent beliefs watch "climate change" --viewer ann  # a line for each belief that comes, changes or goes',
        'querent beliefs watch --domain medical --no-initial --json  # events as JSON lines, from now on',
      ],
      arguments: ['query.semantic'],
      flags: { ...queryFlags('query.'), ...liveFlags('options.'), ...liveFlags('') },
      options: FILTERS,
      more: withLive,
      input: inQuery,
      run: (input, flags, cli) => watchOperation(cli, flags, 'beliefs.watch', input),
    }),
    command({
      name: 'get <belief_id>',
      flags: { include_superseded: { name: 'history', help: 'older versions too' } },
      print: render.beliefText,
    }),
    command({
      name: 'similar <belief_id>',
      ...ABOUT,
      flags: { ...ABOUT.flags, 'options.include_same_holder': 'same-holder' },
      print: render.answerText,
    }),
    command({ name: 'contradictions <belief_id>', ...ABOUT, print: render.contradictionsText }),
    command({
      name: 'expand <belief_id>',
      examples: ['querent beliefs expand my-vaccine-dna --max-tokens 400 --include derivation  # what it rests on'],
      ...ABOUT,
      flags: { ...ABOUT.flags, max_additional_tokens: { name: 'max-tokens', help: 'most tokens (default: 1000)' } },
      input: (input, flags) => ({ max_additional_tokens: 1000, ...input, scope: scopeOf(flags) }),
      print: render.expandedText,
    }),
    command({ name: 'derivation <belief_id>', flags: ABOUT.flags, print: render.chainText }),
    command({
      name: 'put [content]',
      examples: [
        'querent beliefs put "Octopuses have three hearts." --domain science/biology  # private',
        'querent beliefs put "…" --federation open-science --from my-note  # shared, and what it rests on',
        'querent beliefs put --file beliefs.json  # many, a JSON list: all of them or none',
      ],
      flags: WRITES,
      options: { ...DERIVATION, '--file <path>': 'a JSON list of beliefs instead of one; `-` reads standard input' },
      input: putOf,
      creates: true,
      print: WRITTEN,
    }),
    command({
      name: 'supersede <belief_id>',
      examples: [
        'querent beliefs supersede my-note --content "Nine hundred houses." --type correction  # a new version',
      ],
      flags: WRITES,
      options: DERIVATION,
      input: supersedeOf,
      print: WRITTEN,
    }),
    command({
      name: 'delete <belief_id>',
      print: (_answer, { input }) => each('', '{belief_id} deleted')(input, PLAIN_TEXT),
    }),
    {
      name: 'sample',
      operation: null,
      about: 'load the sample: some 300 beliefs of 12 agents in three federations',
      examples: ['querent beliefs sample --home /tmp/try/.querent  # into a store of its own'],
      run: (_input, flags, cli) => runSample(cli, flags),
    },
  ],
}

async function runSample(cli: Cli, flags: CommonFlags): Promise<void> {
  // Loaded when it is wanted: other commands do without its data.
  const { loadBeliefsSample } = await import('../../openings/beliefs.ts')
  const counts = await withProgress(cli.io, report => {
    const options = { create: true, onlyLenses: ['beliefs'], report }
    return withSession(cli, flags, options, ({ engine, context }) => loadBeliefsSample(engine, context.viewer, report))
  })
  const of = 'of {agents} agents in {federations} federations, {trust_edges} statements of trust'
  await print(cli, flags, counts, each('', `{beliefs} beliefs (and {superseded} older versions) ${of}`))
}
