/** The commands `querent chroma …` (CQ-121), which work with the hashtags, nodes, queries and memory of the lens `chroma`. */
import type { Json, JsonObject } from '../../base/canonical.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { toInstant } from '../../model/instant.ts'
import type { Count, ExplainAnswer } from '../../model/page.ts'
import { parsed, pipedText, textOf } from './commands/print.ts'
import { watchOperation } from './commands/watch.ts'
import { type FlagNames, liveFlags, withLive } from './flags.ts'
import { withErrorsAside } from './io.ts'
import { type CallContext, type CommandGroup, command, type Flags } from './operation-command.ts'
import { all, each, exactShape, notes, type Print, rows } from './render/answer.ts'
import { countText, explainText } from './render/page.ts'

/**
 * Names and help texts of the flags for the fields of a query. `at`: path of the query in the operation's input. Null: the field has no
 * flag, because the words of the command line or another flag set it.
 */
function queryFlags(at: '' | 'query.'): FlagNames {
  const hidden = ['hashtags', 'temporal_range', 'metadata_filters', 'score_weights']
  return {
    ...Object.fromEntries(hidden.map(name => [at + name, null])),
    [`${at}k`]: { short: 'k', help: 'how many results' },
    [`${at}update_access`]: { name: 'access', help: 'count the results as used. Default: true' },
    [`${at}complete_hashtags`]: { name: 'complete', help: 'add tags where a text names too few. Default: true' },
  }
}

const TAGS = { '--tags <list>': 'hashtags, separated by commas or blanks, with or without #' }

const QUERY = {
  ...TAGS,
  '--from <time>': 'created or last used from this time on: Unix seconds or a date',
  '--to <time>': 'created or last used up to this time: Unix seconds or a date',
  '--filter <json>': 'metadata filters, such as \'{"year": {"$gte": 2024}}\'',
  '--weights <r,c,s>': 'weights of relevance, recency and strength, together 1',
}

/**
 * What a query searches for: the hashtags if the words or a flag give hashtags, otherwise the words as a text; an empty object if there are
 * neither.
 */
function subjectOf(words: string, { tags }: Flags): JsonObject {
  const named = tagsOf(words)
  if (tags !== undefined) return { hashtags: [...named, ...tagsOf(String(tags))] }
  if (named.length === 0) return {}
  return named.every(word => word.startsWith('#')) ? { hashtags: named } : { input: words }
}

/** Input of a query from the words and flags of the command line. Throws `invalid_argument` if they give neither a hashtag nor a text. */
function askedIn(query: Json | undefined, flags: Flags): JsonObject {
  const { input, ...options } = query as JsonObject
  const words = String(input ?? '')
  const subject = subjectOf(words, flags)
  if (Object.keys(subject).length === 0) throw invalidArgument('words', words, 'hashtags or a text')
  return { ...options, ...subject, ...queryOptions(flags) }
}

function queryOptions({ from, to, filter, weights }: Flags): JsonObject {
  const isBounded = from !== undefined || to !== undefined
  return {
    ...(isBounded && { temporal_range: [secondsOf(from ?? '0', '--from'), secondsOf(to ?? `${LAST}`, '--to')] }),
    ...(filter !== undefined && { metadata_filters: parsed(String(filter), '--filter') as Json }),
    ...(weights !== undefined && { score_weights: weightsOf(String(weights)) }),
  }
}

/** The latest time that a JavaScript date can represent, in seconds since 1970. */
const LAST = 8_640_000_000_000

function secondsOf(given: unknown, field: string): number {
  const text = String(given)
  return /^\d+$/.test(text) ? Number(text) : Math.floor(toInstant(text, field) / 1000)
}

function weightsOf(text: string): JsonObject {
  const parts = text.split(',').map(part => Number(part.trim() || 'none'))
  const [relevance, recency, strength] = parts
  if (parts.length !== 3 || parts.some(Number.isNaN))
    throw invalidArgument('--weights', text, 'three numbers and commas')
  return { relevance, recency, strength } as JsonObject
}

function onOff(text: unknown): boolean {
  if (text !== 'on' && text !== 'off') throw invalidArgument('--decay', String(text), 'on or off')
  return text === 'on'
}

function placeOf(place: unknown): JsonObject {
  return /^\d+$/.test(String(place)) ? { anchor_id: Number(place) } : { zone: String(place) }
}

function tagsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter(Boolean)
}

/**
 * A call that changed nothing is an error on the command line: throws `not_found` if the answer says that no node was updated or deleted.
 */
async function requireChange({ entry_id: id }: JsonObject, { run }: CallContext): Promise<object> {
  const answer = await run<{ readonly updated?: boolean; readonly deleted?: boolean }>()
  if (answer.updated || answer.deleted) return answer
  const message = `entry_id: there is no node ${JSON.stringify(id)} of yours that this could change`
  throw new QuerentError('not_found', message, { entry_id: String(id) })
}

interface Answer {
  readonly query: { readonly completed_hashtags: readonly string[] }
}

const SCORES = ['score 3', 'distance 2', 'relevance 3', 'recency 3', 'STRENGTH=strength_norm 3', 'state']

const answerText: Print<Answer> = rows(
  'results',
  [...SCORES, 'ENTRY=entry_id', 'label'],
  'no nodes found',
  all<Answer>(
    ({ query: { completed_hashtags: added } }, shown) => {
      return notes(added.length > 0 ? [`completed with ${added.join(' ')}`] : [], shown)
    },
    each('warnings', '{message}', 'note'),
  ),
)

const BINDING = ['ANCHOR=anchor_id', 'zone', 'L', 'a', 'b', 'mass 2', 'hashtag']

const NODE_FLAGS: FlagNames = {
  hashtags: null,
  decay_enabled: null,
  collection: null,
  mode_name: { name: 'mode', help: 'Sparse, Adaptive, Spacey or Eidetic', isFree: true },
  plugin_fields: { name: 'fields', help: 'columns of plug-ins, an object' },
  metadata: { help: 'an object; null for none' },
}

export const CHROMA: CommandGroup = {
  around: withErrorsAside,
  firstSteps: ['querent chroma assign --starter', 'querent chroma hashtags mid'],
  commands: [
    command<Answer>({
      name: 'query [words...]',
      call: (_input, { flags, run }) => run(flags['knn'] === true ? { operation: 'chroma.query_knn' } : {}),
      covers: ['chroma.query_knn'],
      about: 'find nodes by hashtags (all words begin with #) or by a text',
      examples: [
        "querent chroma query '#python' '#async' … -k 10  # by hashtags",
        'querent chroma query recent python async notes  # by a text, through a query profile',
      ],
      arguments: ['input'],
      flags: queryFlags(''),
      options: { ...QUERY, '--knn': 'only the nearest, without regard to memory' },
      input: (input, flags) => askedIn(input, flags),
      print: answerText,
    }),
    command<{ readonly answers: readonly Answer[] }>({
      name: 'batch <file>',
      operation: 'chroma.batch_query',
      arguments: [{ json: 'queries' }],
      print: ({ answers }, shown) => answers.map(one => answerText(one, shown)).join('\n'),
    }),
    command<ExplainAnswer>({
      name: 'explain <id> [words...]',
      examples: [
        'querent chroma explain 1b4e… recent python notes --over 77c0…  # why it ranks above the other, or does not',
      ],
      arguments: ['id', 'query.input'],
      flags: queryFlags('query.'),
      options: QUERY,
      input: ({ query, ...input }, flags) => ({ ...input, query: askedIn(query, flags) }),
      print: explainText,
    }),
    command<Count>({
      name: 'count [words...]',
      arguments: ['input'],
      flags: { ...queryFlags(''), k: null },
      options: QUERY,
      input: (input, flags) => askedIn(input, flags),
      print: countText,
    }),
    command({
      name: 'watch [words...]',
      about: 'report changes of an answer until Ctrl-C',
      examples: ['querent chroma watch recent python notes  # a line for each node that comes, changes or goes'],
      arguments: ['input'],
      flags: { ...queryFlags(''), ...liveFlags('') },
      options: QUERY,
      more: withLive,
      input: (input, flags) => askedIn(input, flags),
      run: (input, flags, cli) => watchOperation(cli, flags, 'chroma.watch', input),
    }),
    {
      name: 'store [content]',
      examples: [
        'querent chroma store "text" --label "A note" --tags "programming …"  # at the colour of its hashtags',
      ],
      flags: NODE_FLAGS,
      options: TAGS,
      input: async (input, { tags }, cli) => ({
        ...input,
        ...(tags !== undefined && { hashtags: tagsOf(String(tags)) }),
        content: input['content'] ?? (await pipedText(cli)),
      }),
      creates: true,
      embeds: true,
      print: each('', '{entry_id}'),
    },
    { name: 'get <entry_id>' },
    {
      name: 'update <entry_id>',
      operation: 'chroma.set',
      covers: ['chroma.update'],
      about: 'change label, content, metadata, mode or decay of a node',
      examples: ['querent chroma update 1b4e… --label "Better name"  # its hashtags stay'],
      flags: NODE_FLAGS,
      options: { '--decay <on|off>': 'whether it decays' },
      input: async (input, { decay }, cli) => {
        const changes = { ...input, ...(decay !== undefined && { decay_enabled: onOff(decay) }) }
        if (Object.keys(changes).length === 1)
          throw invalidArgument('options', '', 'at least one option that says what to change')
        return { ...changes, ...(input['content'] === '-' && { content: await pipedText(cli) }) }
      },
      call: requireChange,
    },
    { name: 'delete <entry_id>', call: requireChange },
    { name: 'export', isJson: true, examples: ['querent chroma export > nodes.json  # with all their data'] },
    {
      name: 'import <file>',
      examples: ['querent chroma import nodes.json  # all of them or none; `-` reads standard input'],
      arguments: [{ json: '' }],
      flags: { version: null, exported_at: null, nodes: null, bindings: null },
      creates: true,
      print: each('', '{imported} nodes imported'),
    },
    {
      name: 'assign [hashtag] [place]',
      about: 'bind a hashtag to a zone (core, mid, outer) or an anchor (1 to 10000)',
      examples: [
        "querent chroma assign '#python' core  # a free anchor of the zone, near what it means",
        "querent chroma assign '#podman' --near '#docker'  # the free anchor nearest to another hashtag",
        'querent chroma assign --file tags.txt  # many: a line each, hashtag and place',
        "querent chroma assign --starter  # the starter vocabulary for developers' topics",
      ],
      arguments: ['hashtag', 'zone'],
      flags: { anchor_id: null, assignments: null, text: null },
      options: { '--file <path>': 'read assignments from a file, lines or a stack; `-` reads standard input' },
      input: async ({ zone, ...input }, { file }, cli) => ({
        ...input,
        ...(zone !== undefined && placeOf(zone)),
        ...(typeof file === 'string' && { text: await textOf(cli, file) }),
      }),
      creates: true,
      embeds: true,
      print: (answer, shown) =>
        'assigned' in answer
          ? each('', '{assigned.length} hashtags assigned')(answer, shown)
          : rows('', BINDING)(answer, shown),
    },
    { name: 'unassign <hashtag>' },
    {
      name: 'migrate <hashtag> <place>',
      arguments: ['hashtag', 'zone'],
      flags: { anchor_id: null },
      input: ({ zone, ...input }) => ({ ...input, ...placeOf(zone) }),
      embeds: true,
    },
    {
      name: 'hashtags [zone]',
      examples: ['querent chroma hashtags --as lines > tags.txt  # for `assign --file` of another store'],
      print: (answer: { readonly text?: string }, shown) =>
        answer.text?.trimEnd() ?? rows('hashtags', BINDING, 'no hashtags')(answer, shown),
    },
    {
      name: 'suggest <words...>',
      operation: 'chroma.suggest_hashtags',
      arguments: ['content'],
      embeds: true,
      print: each('hashtags', '{}'),
    },
    {
      name: 'place <tags...>',
      examples: ["querent chroma place '#programming' '#python' …  # L, a and b in full precision"],
      arguments: ['hashtags'],
      input: ({ hashtags }) => ({ hashtags: (hashtags as readonly string[]).flatMap(tagsOf) }),
      print: exactShape,
    },
    { name: 'stats', operation: 'chroma.statistics' },
  ],
}
