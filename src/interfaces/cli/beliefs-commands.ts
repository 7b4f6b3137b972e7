/** The commands `querent beliefs …`: store, query and explain beliefs, which are statements that agents hold. */
import type { Json, JsonObject } from '../../base/canonical.ts'
import { printable } from '../../base/printable.ts'
import { isRecord } from '../../base/record.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { parsed, pipedText, print, textOf } from './commands/print.ts'
import { watchOperation } from './commands/watch.ts'
import { type CommonFlags, type FlagNames, liveFlags, withLive } from './flags.ts'
import { type Cli, errorsAside, exitCodeFor, write } from './io.ts'
import { type CommandGroup, command, type Flags } from './operation-command.ts'
import { withProgress } from './progress.ts'
import {
  all,
  type Columns,
  each,
  facts,
  lines,
  moreText,
  notes,
  oneLine,
  PLAIN_TEXT,
  type Print,
  rows,
  shape,
} from './render/answer.ts'
import { withSession } from './session.ts'

// Converts flags of `querent beliefs …` that have no field of their own in the operation's input, and reports failures of these commands.

/** Input of a query from the flags: adds filters (preset, domain, minimum confidence) and the scopes to search. */
export function queryOf(query: JsonObject, flags: Flags): JsonObject {
  const filters = filtersOf(flags)
  const options = isRecord(query['options']) ? (query['options'] as JsonObject) : {}
  return {
    ...query,
    ...(filters.length > 0 && { filters: filters.length === 1 ? (filters[0] as Json) : filters }),
    options: { scope: scopeOf(flags), ...options },
  }
}

/** Which scopes a query searches (local, federated, network), from the flags; all three if no flag names one. */
export function scopeOf({ local, federated, network }: Flags): JsonObject {
  const isAll = local === undefined && federated === undefined && network === undefined
  return { local: isAll || local === true, federated: isAll || federated === true, network: isAll || network === true }
}

function filtersOf({ filter = [], domain, minConfidence }: Flags): readonly Json[] {
  const own = {
    ...(domain !== undefined && { domains_include: domain as Json }),
    ...(minConfidence !== undefined && { min_confidence: minConfidence as Json }),
  }
  const given = (filter as readonly string[]).map(text =>
    /^\s*[[{]/.test(text) ? (parsed(text, '--filter') as Json) : text,
  )
  return [...(Object.keys(own).length > 0 ? [own] : []), ...given.flat()]
}

/** Fields of a belief that is to be stored or changed, from the flags. */
function beliefOf(input: JsonObject, { type, from }: Flags): JsonObject {
  const { visibility, federation_ids, valid_until } = input
  const sources = ((from ?? []) as readonly string[]).map(sourceOf)
  const isDerived = type !== undefined || from !== undefined
  return {
    ...input,
    ...(visibility === undefined && federation_ids !== undefined && { visibility: 'federated' }),
    ...(isDerived && { derivation: { ...(type !== undefined && { type: type as Json }), sources } }),
    ...(valid_until === 'never' && { valid_until: null }),
  }
}

/** A source of a derived belief: a URL names an external source, any other text is the id of a belief. */
function sourceOf(text: string): JsonObject {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { external_ref: text } : { belief_id: text }
}

/**
 * Runs a command and reports its error on standard error: as text with all faults found in the input, or for programs the whole error as
 * JSON.
 */
export async function reportedWithCode(cli: Cli, body: () => Promise<void>): Promise<void> {
  errorsAside(cli)
  try {
    await body()
  } catch (error) {
    errorsAside(cli)
    if (!(error instanceof QuerentError) || cli.errors !== 'text' || cli.signal.aborted) throw error
    await write(cli.io.stderr, failureText(error))
    cli.exitCode = exitCodeFor(error)
  }
}

function failureText({ code, message, details, help }: QuerentError): string {
  const faults = (details['all'] ?? []) as readonly { path: string; constraint: string }[]
  const others = faults.slice(1).map(({ path, constraint }) => `  ${path}: expected ${constraint}\n`)
  return `querent: ${code}: ${message}\n${others.join('')}  ${help}\n`
}

// Formats answers about beliefs for people: results of queries, a single belief, and its derivation.

interface Chain {
  readonly chain: readonly {
    readonly belief_id: string
    readonly depth: number
    readonly contribution_type: string | null
    readonly content_preview: string
    readonly derivation_type: string
  }[]
}

/** Parts of an answer other than its beliefs; if the answer is streamed, they come at the end. */
interface AnswerEnd {
  readonly verdict?: string
  readonly verdict_reason?: string | null
  readonly nearest?: readonly object[]
  readonly next_cursor?: string | null
  /** Which of the other nodes responded to the query; absent if no other node was asked. */
  readonly coverage?: { readonly nodes?: readonly { readonly responded: boolean }[] }
}

interface Answer extends AnswerEnd {
  readonly beliefs: readonly { readonly derivation_chain?: Chain }[]
}

const PARTS = ['semantic_similarity', 'confidence_score', 'trust_score', 'recency_score']
const RANKED: Columns = [
  ...['=rank', 'SCORE=score.final 3'],
  ...['MEANING', 'CONFIDENCE', 'TRUST', 'RECENCY'].map((title, at) => `${title}=score.components.${PARTS[at]} 3`),
  ...['FROM=source.id|source.kind', 'HOLDER=belief.holder_id 14', 'ID=belief.id', 'BELIEF=belief.content'],
]

const reasonText = all(
  each('?explanation.summary', '{rank}. {explanation.summary}', 'note'),
  each('?contradiction', '{rank}. {contradiction.type}, {contradiction.score 2}: {contradiction.text}', 'note'),
  ({ derivation_chain: chain }: Answer['beliefs'][number]) => (chain && chain.chain.length > 1 ? chainText(chain) : ''),
)

const COUNT = '{total_count}{, as of |as_of|}'

const notesText: Print<AnswerEnd> = all<AnswerEnd>(
  each('?verdict_reason', '{verdict_reason}', 'note'),
  each('nearest', 'near: {belief.id}  {belief.content}', 'note'),
  each('errors', 'a part of the answer: {|node|: }{code}: {message}', 'note'),
  each(
    ({ coverage }: AnswerEnd) => coverage?.nodes?.filter(({ responded }) => responded),
    '{node} answered with {results}{ of federation |federation|}, at {answered_at} after {elapsed_ms} ms',
    'note',
  ),
  each('conflicts', '{contradiction_type} conflict: {belief_ids.0} and {belief_ids.1}: {resolution_reason}', 'note'),
  each('warnings', '{message}', 'note'),
  ({ next_cursor }, shown) => notes(moreText(next_cursor, shown), shown),
)

export const answerText: Print<Answer> = all<Answer>(
  rows('beliefs', RANKED, 'no beliefs found'),
  ({ beliefs }, shown) => beliefs.map(one => reasonText(one, shown)).join(''),
  each('?beliefs.length', `{beliefs.length} of ${COUNT}`),
  notesText,
)

const contradictionsText: Print<AnswerEnd & { readonly contradictions: Answer['beliefs'] }> = all(
  ({ contradictions: beliefs, ...rest }, shown) => answerText({ ...rest, beliefs }, shown),
  each('detector', '{note}', 'note'),
)

/** Text that follows a streamed answer: the number of beliefs printed, and the notes. */
const streamEndText: Print<AnswerEnd & { readonly count: number }> = all<AnswerEnd & { readonly count: number }>(
  each('?count', `{count} of ${COUNT}`),
  ({ count }) => (count === 0 ? 'no beliefs found\n' : ''),
  notesText,
)

const batchText: Print<{ readonly results: readonly { readonly result?: Answer }[] }> = ({ results }, shown) =>
  results
    .map(one => (one.result ? answerText(one.result, shown) : each('error', '{code}: {message}')(one, shown)))
    .join('\n')

const contextText: Print<Answer> = all<Answer>(
  answerText,
  each('', '{total_tokens} of {max_tokens} tokens'),
  each('?expandable.length', 'rest on others (derivation): {expandable}', 'note'),
)

interface WithHistory {
  readonly belief: { readonly id: string; readonly content: string }
  readonly history?: readonly { readonly id: string }[]
}

const BELIEF: Columns = [
  ...['id', 'version', 'holder=holder_id', 'visibility', 'federations=federation_ids', 'domains', 'created=created_at'],
  ...['valid from=valid_from', 'valid until=valid_until', 'confidence', 'derivation=derivation.type'],
  ...['supersedes', 'superseded by=superseded_by', 'deleted=deleted_at'],
]

const beliefText: Print<WithHistory> = all<WithHistory>(
  facts('belief', BELIEF),
  each('belief.derivation.sources', 'rests on {|belief_id|}{|external_ref|} ({contribution_type})'),
  ({ belief }) => `\n${printable(belief.content)}\n`,
  ({ history = [] }) => (history.length > 1 ? '\nother versions\n' : ''),
  each(
    ({ belief, history = [] }: WithHistory) => history.filter(({ id }) => id !== belief.id),
    '{created_at}  {version}  {id}  {content}',
  ),
)

/**
 * Formats the derivation chain of a belief: first the belief itself, then its sources, indented below the belief that they support. A
 * source's kind of contribution is shown unless it is primary.
 */
function chainText({ chain }: Chain): string {
  return lines(
    chain.map(({ belief_id, depth, contribution_type: contribution, content_preview, derivation_type }) => {
      const as = contribution === null || contribution === 'primary' ? '' : ` (${contribution})`
      const name = `${'  '.repeat(depth)}${depth === 0 ? '' : '← '}${oneLine(belief_id)}${as}`
      return `${name}  ${derivation_type}  ${oneLine(content_preview)}`
    }),
  )
}

interface Explained {
  readonly explanation?: Readonly<Record<string, object>>
  /**
   * Comparison of this belief's score with that of another belief. The numbers (`parts`, `smallest_change`) are present only if both
   * beliefs match the query.
   */
  readonly versus?: { readonly parts?: object; readonly smallest_change?: object | null }
}

export const explanationText: Print<Explained> = all<Explained>(
  ({ explanation = {} }, shown) => {
    const names = ['semantic', 'confidence', 'trust', 'recency'].filter(name => name in explanation)
    const parts = names.map(name => ({ name, ...explanation[name] }))
    const columns = ['PART=name', 'value 4', 'weight 4', 'GIVES=contribution 4']
    return parts.length === 0 ? '' : rows('', columns)(parts, shown)
  },
  each('', '{summary}'),
  each('dropped_by', 'not shown: {reason}'),
  each('hints', 'with {dimension} at {target} (now {current}) it would be number {rank}'),
  ({ versus }, shown) => {
    if (versus?.parts === undefined) return versus === undefined ? '' : shape(versus, shown)
    const gains = Object.keys(versus.parts).map(name => `${name} {parts.${name}.contribution +4}`)
    const swap = versus.smallest_change ? 'the nearest weights that swap them: {smallest_change.weights}' : NO_SWAP
    return all(each('', `{ahead} is before {behind} by {gap 4}: ${gains.join(', ')}`), each('', swap))(versus, shown)
  },
)

const NO_SWAP = 'no weights of the four parts would swap them'

/**
 * Changes the flags of some fields of a belief query: another name or help text; null: the field gets no flag, because it is of no use on
 * the command line. `at`: path of the query in the operation's input, ending with a dot.
 */
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

/** Flag names for commands that apply to all beliefs that a query matches: as for a query, but without the fields for paging and output. */
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

/** Settings shared by the commands that ask about a single belief. */
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
    throw invalidArgument('options', '', 'at least one option that says what to change')
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
      stream: { list: 'beliefs', end: streamEndText },
      pages: { cursor: 'options.cursor', next: 'next_cursor' },
      print: answerText,
    }),
    command({
      name: 'explain <belief_id> [words...]',
      examples: ['querent beliefs explain a --over b climate  # why a is ranked above b, or below it'],
      arguments: ['belief_id', 'query.semantic'],
      flags: { ...queryFlags('query.'), other_id: { name: 'over', help: 'compare with this belief' } },
      options: FILTERS,
      input: inQuery,
      embeds: true,
      print: explanationText,
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
      print: batchText,
    }),
    command({
      name: 'context [words...]',
      operation: 'beliefs.context_query',
      examples: ['querent beliefs context "mRNA vaccines" --purpose verify --max-tokens 500  # for a prompt'],
      arguments: ['semantic'],
      flags: matchFlags(''),
      options: FILTERS,
      defaults: { purpose: 'answer', max_tokens: 1000 },
      input: queryOf,
      embeds: true,
      print: contextText,
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
      print: beliefText,
    }),
    command({
      name: 'similar <belief_id>',
      ...ABOUT,
      flags: { ...ABOUT.flags, 'options.include_same_holder': 'same-holder' },
      print: answerText,
    }),
    command({ name: 'contradictions <belief_id>', ...ABOUT, print: contradictionsText }),
    command({ name: 'derivation <belief_id>', flags: ABOUT.flags, print: chainText }),
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
  // The module that loads the sample data is imported only here, because no other command needs it.
  const { loadBeliefsSample } = await import('../../openings/beliefs.ts')
  const counts = await withProgress(cli.io, report => {
    const options = { create: true, onlyLenses: ['beliefs'], report }
    return withSession(cli, flags, options, ({ engine, context }) => loadBeliefsSample(engine, context.viewer, report))
  })
  const of = 'of {agents} agents in {federations} federations, {trust_edges} statements of trust'
  await print(cli, flags, counts, each('', `{beliefs} beliefs (and {superseded} older versions) ${of}`))
}
