/** `querent chroma …` (CQ-121): hashtags, nodes, queries and memory of the lens `chroma`. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { JsonObject } from '../../base/canonical.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { mustHaveChanged, onOff, placeOf, queryOptions, subjectOf, tagsOf } from './commands/chroma-input.ts'
import { pipedText, textOf } from './commands/input.ts'
import type { Forms } from './commands/print.ts'
import { finiteNumber } from './flags.ts'
import type { FlagNames } from './generated-flags.ts'
import { addGroup, type CommandGroup, command, type OperationCommand } from './operation-command.ts'
import type { Answer, Binding, Forecast } from './render/chroma.ts'
import { type Cli, tellAside } from './run.ts'

/** What words and other flags say. */
const QUERY_FLAGS: FlagNames = Object.fromEntries(
  [
    'hashtags',
    'k',
    'temporal_range',
    'metadata_filters',
    'score_weights',
    'update_access',
    'complete_hashtags',
  ].flatMap(name => [
    [name, null],
    [`query.${name}`, null],
  ]),
)

function withQuery(made: Command): Command {
  return made
    .option('--tags <list>', 'hashtags, separated by commas or blanks, with or without #')
    .option('-k, --k <number>', 'how many results', finiteNumber)
    .option('--from <time>', 'created or last used from here on: Unix seconds or a date')
    .option('--to <time>', 'and up to here')
    .option('--filter <json>', 'metadata filters, such as \'{"year": {"$gte": 2024}}\'')
    .option('--weights <r,c,s>', 'weights of relevance, recency and strength, together 1')
    .option('--no-access', 'a dry run that counts as no use')
    .option('--no-complete', 'do not add tags where a text names too few')
}

async function answersForms(answers: readonly Answer[], { io }: Cli): Promise<Forms> {
  const { answerText } = await import('./render/chroma.ts')
  return { table: style => answers.map(one => answerText(one, style, io.stdout.columns)).join('\n') }
}

async function bindingsForms(bindings: readonly Binding[]): Promise<Forms> {
  const { bindingsText } = await import('./render/chroma.ts')
  return { table: style => bindingsText(bindings, style) }
}

async function fieldsForms(answer: object): Promise<Forms> {
  const { fieldsText } = await import('./render/fields.ts')
  return { table: () => fieldsText(answer as Readonly<Record<string, unknown>>) }
}

const NODE_FLAGS: FlagNames = {
  hashtags: null,
  decay_enabled: null,
  collection: null,
  mode_name: { name: 'mode', help: 'Sparse, Adaptive, Spacey or Eidetic', isFree: true },
  plugin_fields: { name: 'fields', help: 'columns of plug-ins, an object' },
  metadata: { help: 'an object; null for none' },
}

/** Those that show what the operation answers, a value a line. */
const fields = (entry: Omit<OperationCommand<object>, 'print'>): OperationCommand =>
  command<object>({ ...entry, print: fieldsForms })

const CHROMA: CommandGroup = {
  name: 'chroma',
  about: 'nodes in colour space: hashtags, queries by colour, living memory',
  around: (cli, body) => {
    tellAside(cli)
    return body()
  },
  commands: [
    command<Answer>({
      name: 'query [words...]',
      operation: 'chroma.query',
      instead: ({ knn }) => (knn === true ? 'chroma.query_knn' : undefined),
      covers: ['chroma.query_knn'],
      about: 'find nodes by hashtags (all words begin with #) or by a text',
      examples: [
        ["querent chroma query '#python' '#async' … -k 10", 'by hashtags'],
        ['querent chroma query recent python async notes', 'by a text, through a query profile'],
      ],
      arguments: ['input'],
      flags: QUERY_FLAGS,
      more: made => withQuery(made).option('--knn', 'the nearest alone, whatever memory says'),
      input: ({ input, ...options }, flags) => {
        const words = String(input)
        const subject = subjectOf(words, flags)
        if (Object.keys(subject).length === 0) throw invalidArgument('words', words, 'hashtags or a text')
        return { ...options, ...subject, ...queryOptions(flags) }
      },
      print: (answer, cli) => answersForms([answer], cli),
    }),
    command<{ readonly answers: readonly Answer[] }>({
      name: 'batch <file>',
      operation: 'chroma.batch_query',
      about: 'ask many queries, a JSON list, against one state; `-` reads standard input',
      examples: [['querent chroma batch queries.json --json', 'one answer a query']],
      arguments: [{ json: 'queries' }],
      print: ({ answers }, cli) => answersForms(answers, cli),
    }),
    command<{ readonly entry_id: string }>({
      name: 'store [content]',
      operation: 'chroma.store',
      about: 'store a node; `-` reads its content from standard input',
      examples: [
        ['querent chroma store "text" --label "A note" --tags "programming …"', 'at the colour of its hashtags'],
      ],
      arguments: ['content'],
      flags: NODE_FLAGS,
      more: made => made.requiredOption('--tags <list>', 'hashtags, separated by commas or blanks, with or without #'),
      input: async (input, flags, cli) => ({
        ...input,
        hashtags: tagsOf(String(flags['tags'])),
        content: input['content'] ?? (await pipedText(cli)),
      }),
      creates: true,
      print: ({ entry_id }) => ({ table: () => `${entry_id}\n` }),
    }),
    fields({
      name: 'get <entry_id>',
      operation: 'chroma.get',
      about: 'read a node; no use of it',
      examples: [['querent chroma get 1b4e…', 'all of it']],
      arguments: ['entry_id'],
    }),
    command<{ readonly updated: boolean }>({
      name: 'update <entry_id>',
      operation: 'chroma.set',
      covers: ['chroma.update'],
      about: 'change label, content, metadata, mode or decay of a node',
      examples: [['querent chroma update 1b4e… --label "Better name"', 'its hashtags stay']],
      arguments: ['entry_id'],
      flags: NODE_FLAGS,
      more: made => made.option('--decay <on|off>', 'whether it decays'),
      input: async (input, flags, cli) => {
        const { decay } = flags
        const changes = { ...input, ...(decay !== undefined && { decay_enabled: onOff(decay) }) }
        if (Object.keys(changes).length === 1)
          throw invalidArgument('options', '', 'at least one of those that say what to change')
        return { ...changes, ...(input['content'] === '-' && { content: await pipedText(cli) }) }
      },
      print: (answer, _cli, _flags, input) => {
        mustHaveChanged(answer.updated, input)
        return fieldsForms(answer)
      },
    }),
    command<{ readonly deleted: boolean }>({
      name: 'delete <entry_id>',
      operation: 'chroma.delete',
      about: 'delete a node for good',
      examples: [['querent chroma delete 1b4e…', 'and its memory']],
      arguments: ['entry_id'],
      print: (answer, _cli, _flags, input) => {
        mustHaveChanged(answer.deleted, input)
        return fieldsForms(answer)
      },
    }),
    fields({
      name: 'export',
      operation: 'chroma.export',
      about: 'write all nodes you hold as one JSON document',
      examples: [['querent chroma export > nodes.json', 'with everything known of them']],
      isJson: true,
    }),
    command<{ readonly imported: number }>({
      name: 'import <file>',
      operation: 'chroma.import',
      about: 'restore nodes from an exported document; `-` reads standard input',
      examples: [['querent chroma import nodes.json', 'all of them or none']],
      arguments: [{ json: '' }],
      flags: { version: null, exported_at: null, nodes: null, bindings: null },
      creates: true,
      print: ({ imported }) => ({ table: () => `${imported} nodes imported\n` }),
    }),
    command<Binding & { readonly assigned?: readonly Binding[] }>({
      name: 'assign [hashtag] [place]',
      operation: 'chroma.assign',
      about: 'bind a hashtag to a zone (core, mid, outer) or an anchor (1 to 10000)',
      examples: [
        ["querent chroma assign '#python' core", 'the first free anchor of the zone'],
        ['querent chroma assign --file tags.txt', 'many: a line each, hashtag and place'],
        ['querent chroma assign --starter', "the starter vocabulary for developers' topics"],
      ],
      arguments: ['hashtag', 'zone'],
      flags: { anchor_id: null, assignments: null, text: null },
      more: made =>
        made.option('--file <path>', 'read assignments from a file, lines or a stack; `-` reads standard input'),
      input: async ({ zone, ...input }, { file }, cli) => ({
        ...input,
        ...(zone !== undefined && placeOf(String(zone))),
        ...(typeof file === 'string' && { text: await textOf(cli, file) }),
      }),
      creates: true,
      print: answer =>
        answer.assigned === undefined
          ? bindingsForms([answer])
          : { table: () => `${answer.assigned?.length} hashtags assigned\n` },
    }),
    fields({
      name: 'unassign <hashtag>',
      operation: 'chroma.unassign',
      about: 'free the anchor of a hashtag that no node carries',
      examples: [["querent chroma unassign '#pyton'", 'the local owner may']],
      arguments: ['hashtag'],
    }),
    fields({
      name: 'migrate <hashtag> <place>',
      operation: 'chroma.migrate',
      about: 'move a hashtag, and the nodes that carry it',
      examples: [["querent chroma migrate '#python' mid", 'the local owner may']],
      arguments: ['hashtag', 'zone'],
      flags: { anchor_id: null },
      input: ({ zone, ...input }) => ({ ...input, ...placeOf(String(zone)) }),
    }),
    command<{ readonly hashtags: readonly Binding[] }>({
      name: 'hashtags [zone]',
      operation: 'chroma.hashtags',
      about: 'list assigned hashtags',
      examples: [['querent chroma hashtags core', 'of one zone']],
      arguments: ['zone'],
      print: ({ hashtags }) => bindingsForms(hashtags),
    }),
    command<{ readonly hashtags: readonly string[] }>({
      name: 'suggest <words...>',
      operation: 'chroma.suggest_hashtags',
      about: 'find the assigned hashtags that a text names; `-` reads standard input',
      examples: [['querent chroma suggest "Async Python with asyncio"', 'nothing is applied']],
      arguments: ['content'],
      print: ({ hashtags }) => ({ table: () => hashtags.map(tag => `${tag}\n`).join('') }),
    }),
    fields({
      name: 'place <tags...>',
      operation: 'chroma.place',
      about: 'compute the colour of a set of hashtags',
      examples: [["querent chroma place '#programming' '#python' …", 'L, a and b in full precision']],
      arguments: ['hashtags'],
      input: ({ hashtags }) => ({ hashtags: (hashtags as readonly string[]).flatMap(tagsOf) }),
    }),
    fields({
      name: 'decay',
      operation: 'chroma.decay',
      about: 'let what was not used decay up to now',
      examples: [['querent chroma decay', 'running it twice changes nothing']],
    }),
    fields({
      name: 'lifecycle',
      operation: 'chroma.lifecycle',
      about: 'let strong nodes ascend and forgotten ones rot',
      examples: [['querent chroma lifecycle', 'after a decay cycle']],
    }),
    fields({
      name: 'stats',
      operation: 'chroma.statistics',
      about: 'count nodes by state and mode',
      examples: [['querent chroma stats', 'with strength and health']],
    }),
    command<Forecast>({
      name: 'forecast',
      operation: 'chroma.forecast',
      about: 'show what will rot, ascend or fade if nothing is used',
      examples: [['querent chroma forecast --days 30', 'changes nothing']],
      flags: { days: { name: 'days', help: 'how far to look (default: 30)' } },
      input: input => ({ ...(input['until'] === undefined && { days: 30 }), ...input }),
      print: async answer => {
        const { forecastText } = await import('./render/chroma.ts')
        return { table: style => forecastText(answer, style) }
      },
    }),
    command<{ readonly svg: string; readonly nodes: number }>({
      name: 'map [words...]',
      operation: 'chroma.map',
      about: 'draw all nodes in the plane of their colours, with a query and its hits',
      examples: [
        ['querent chroma map --out map.svg', 'every node'],
        ["querent chroma map '#python' '#async' … --out map.svg", 'with a query'],
      ],
      arguments: ['input'],
      flags: QUERY_FLAGS,
      more: made => withQuery(made).requiredOption('--out <file>', 'where to write the SVG'),
      input: ({ input, query }, flags) => {
        const { k, ...options } = queryOptions({ ...flags, access: true })
        const subject = subjectOf(String(input), flags)
        return {
          ...subject,
          ...(k !== undefined && { k }),
          query: { ...(query as JsonObject | undefined), ...options },
        }
      },
      answer: async ({ svg, nodes }, cli, { out }) => ({ out: await writtenTo(String(out), svg, cli), nodes }),
      print: ({ nodes }, _cli, { out }) => ({ table: () => `${nodes} nodes drawn to ${out}\n` }),
    }),
  ],
}

async function writtenTo(out: string, svg: string, { io }: Cli): Promise<string> {
  const file = resolve(io.workingFolder, out)
  try {
    await writeFile(file, svg)
  } catch (error) {
    throw new QuerentError('io_failed', `--out: ${(error as Error).message}`, { path: file }, error)
  }
  return file
}

export function defineChromaCommands(program: Command, cli: Cli): void {
  addGroup(program, cli, CHROMA).addHelpText(
    'after',
    '\nFirst steps:\n  querent chroma assign --starter\n  querent chroma hashtags mid\n',
  )
}
