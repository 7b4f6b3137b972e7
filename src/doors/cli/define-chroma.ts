/** `querent chroma …` (CQ-121): hashtags, nodes, queries and memory of the lens `chroma`. */
import type { Command } from 'commander'
import type { ChromaQueryFlags, NodeFlags } from './commands/chroma-input.ts'
import { type Add, define, type Run, runsIn } from './define.ts'
import { type CommonFlags, finiteNumber, withFormat, withPlace } from './flags.ts'
import { type Cli, tellAside } from './run.ts'

export function defineChromaCommands(program: Command, cli: Cli): void {
  const chroma = program
    .command('chroma')
    .description('nodes in colour space: hashtags, queries by colour, living memory')
    .addHelpText('after', '\nFirst steps:\n  querent chroma assign --starter\n  querent chroma hashtags mid\n')
  const add: Add = (name, what, examples) => withFormat(withPlace(define(chroma, name, what, examples)))
  const run: RunChroma = runsIn(
    cli,
    () => import('./commands/chroma.ts'),
    body => {
      tellAside(cli)
      return body()
    },
  )
  defineQueries(add, run, cli)
  defineNodes(add, run, cli)
  defineHashtags(add, run, cli)
  defineMemory(add, run, cli)
}

type RunChroma = Run<typeof import('./commands/chroma.ts')>

function withChromaQuery(command: Command): Command {
  return command
    .option('--tags <list>', 'hashtags, separated by commas or blanks, with or without #')
    .option('-k, --k <number>', 'how many results', finiteNumber)
    .option('--max-distance <number>', 'no farther than this', finiteNumber)
    .option('--from <time>', 'created or last used from here on: Unix seconds or a date')
    .option('--to <time>', 'and up to here')
    .option('--filter <json>', 'metadata filters, such as \'{"year": {"$gte": 2024}}\'')
    .option('--include-rotten', 'rotten nodes too; those shown are rescued')
    .option('--weights <r,c,s>', 'weights of relevance, recency and strength, together 1')
    .option('--profile <name>', 'query profile for a text')
    .option('--no-access', 'a dry run that counts as no use')
    .option('--no-complete', 'do not add tags where a text names too few')
}

function defineQueries(add: Add, run: RunChroma, cli: Cli): void {
  const query = withChromaQuery(
    add('query [words...]', 'find nodes by hashtags (all words begin with #) or by a text', [
      ["querent chroma query '#python' '#async' … -k 10", 'by hashtags'],
      ['querent chroma query recent python async notes', 'by a text, through a query profile'],
    ]),
  ).option('--knn', 'the nearest alone, whatever memory says')
  run<[readonly string[]], ChromaQueryFlags & { knn?: true }>(query, (commands, words, flags) =>
    commands.runChromaQuery(cli, words, flags),
  )
  const batch = add('batch <file>', 'ask many queries, a JSON list, against one state; `-` reads standard input', [
    ['querent chroma batch queries.json --json', 'one answer a query'],
  ])
  run<[string], CommonFlags>(batch, (commands, file, flags) => commands.runBatch(cli, file, flags))
}

function defineNodes(add: Add, run: RunChroma, cli: Cli): void {
  const store = add('store [content]', 'store a node; `-` reads its content from standard input', [
    ['querent chroma store "text" --label "A note" --tags "programming …"', 'at the colour of its hashtags'],
  ])
    .requiredOption('--tags <list>', 'hashtags, separated by commas or blanks, with or without #')
    .requiredOption('--label <text>', 'at most 500 characters')
    .option('--metadata <json>', 'an object')
    .option('--fields <json>', 'columns of plug-ins, an object')
    .option('--mode <name>', 'Sparse, Adaptive, Spacey or Eidetic')
    .option('--visibility <who>', 'private (default), public, or shared')
    .option('--federation <id...>', 'with whom a shared node is shared')
  run<[string | undefined], NodeFlags>(store, (commands, content, flags) => commands.runStore(cli, content, flags))

  const get = add('get <entry_id>', 'read a node; no use of it', [['querent chroma get 1b4e…', 'all of it']])
  run<[string], CommonFlags>(get, (commands, id, flags) => commands.runNode(cli, 'chroma.get', { entry_id: id }, flags))

  const update = add('update <entry_id>', 'change label, content, metadata, mode or decay of a node', [
    ['querent chroma update 1b4e… --label "Better name"', 'its hashtags stay'],
  ])
    .option('--label <text>', 'a new label')
    .option('--content <text>', 'new content; `-` reads standard input')
    .option('--metadata <json>', 'a new object; null for none')
    .option('--fields <json>', 'columns of plug-ins')
    .option('--mode <name>', 'Sparse, Adaptive, Spacey or Eidetic')
    .option('--decay <on|off>', 'whether it decays')
    .option('--rotten', 'mark it rotten')
  run<[string], NodeFlags>(update, (commands, id, flags) => commands.runUpdate(cli, id, flags))

  const remove = add('delete <entry_id>', 'delete a node for good', [['querent chroma delete 1b4e…', 'and its memory']])
  run<[string], CommonFlags>(remove, (commands, id, flags) => commands.runDelete(cli, id, flags))

  const out = add('export', 'write all nodes you hold as one JSON document', [
    ['querent chroma export > nodes.json', 'with everything known of them'],
  ])
  run<[], CommonFlags>(out, (commands, flags) => commands.runExportNodes(cli, flags))

  const back = add('import <file>', 'restore nodes from an exported document; `-` reads standard input', [
    ['querent chroma import nodes.json', 'all of them or none'],
  ])
  run<[string], CommonFlags>(back, (commands, file, flags) => commands.runImportNodes(cli, file, flags))
}

function defineHashtags(add: Add, run: RunChroma, cli: Cli): void {
  const assign = add(
    'assign [hashtag] [place]',
    'bind a hashtag to a zone (core, mid, outer) or an anchor (1 to 10000)',
    [
      ["querent chroma assign '#python' core", 'the first free anchor of the zone'],
      ['querent chroma assign --file tags.txt', 'many: a line each, hashtag and place'],
      ['querent chroma assign --starter', "the starter vocabulary for developers' topics"],
    ],
  )
    .option('--file <path>', 'read assignments from a file, lines or a stack; `-` reads standard input')
    .option('--starter', 'assign the starter vocabulary')
  run<[string | undefined, string | undefined], CommonFlags & { file?: string; starter?: true }>(
    assign,
    (commands, hashtag, place, flags) => commands.runAssign(cli, hashtag, place, flags),
  )
  const unassign = add('unassign <hashtag>', 'free the anchor of a hashtag that no node carries', [
    ["querent chroma unassign '#pyton'", 'the local owner may'],
  ])
  run<[string], CommonFlags>(unassign, (commands, hashtag, flags) =>
    commands.runNode(cli, 'chroma.unassign', { hashtag }, flags),
  )
  const migrate = add('migrate <hashtag> <place>', 'move a hashtag, and the nodes that carry it', [
    ["querent chroma migrate '#python' mid", 'the local owner may'],
  ])
  run<[string, string], CommonFlags>(migrate, (commands, hashtag, place, flags) =>
    commands.runMigrate(cli, hashtag, place, flags),
  )
  const hashtags = add('hashtags [zone]', 'list assigned hashtags', [['querent chroma hashtags core', 'of one zone']])
  run<[string | undefined], CommonFlags>(hashtags, (commands, zone, flags) => commands.runHashtags(cli, zone, flags))

  const suggest = add('suggest <words...>', 'find the assigned hashtags that a text names; `-` reads standard input', [
    ['querent chroma suggest "Async Python with asyncio"', 'nothing is applied'],
  ])
  run<[readonly string[]], CommonFlags>(suggest, (commands, words, flags) => commands.runSuggest(cli, words, flags))

  const place = add('place <tags...>', 'compute the colour of a set of hashtags', [
    ["querent chroma place '#programming' '#python' …", 'L, a and b in full precision'],
  ])
  run<[readonly string[]], CommonFlags>(place, (commands, tags, flags) => commands.runPlace(cli, tags, flags))
}

function defineMemory(add: Add, run: RunChroma, cli: Cli): void {
  const long = [
    ['decay', 'let what was not used decay up to now', 'running it twice changes nothing'],
    ['lifecycle', 'let strong nodes ascend and forgotten ones rot', 'after a decay cycle'],
  ] as const
  for (const [name, what, example] of long) {
    const command = add(name, what, [[`querent chroma ${name}`, example]])
    run<[], CommonFlags>(command, (commands, flags) => commands.runLong(cli, `chroma.${name}`, flags))
  }
  const stats = add('stats', 'count nodes by state and mode', [['querent chroma stats', 'with strength and health']])
  run<[], CommonFlags>(stats, (commands, flags) => commands.runNode(cli, 'chroma.statistics', {}, flags))

  const forecast = add('forecast', 'say what will rot, ascend or fade if nothing is used', [
    ['querent chroma forecast --days 30', 'changes nothing'],
  ])
    .option('--days <number>', 'how far to look', finiteNumber, 30)
    .option('--limit <number>', 'how many nodes to name', finiteNumber)
  run<[], CommonFlags & { days: number; limit?: number }>(forecast, (commands, flags) =>
    commands.runForecast(cli, flags),
  )
  const map = withChromaQuery(
    add('map [words...]', 'draw all nodes in the plane of their colours, with a query and its hits', [
      ['querent chroma map --out map.svg', 'every node'],
      ["querent chroma map '#python' '#async' … --out map.svg", 'with a query'],
    ]),
  ).requiredOption('--out <file>', 'where to write the SVG')
  run<[readonly string[]], ChromaQueryFlags & { out: string }>(map, (commands, words, flags) =>
    commands.runMap(cli, words, flags),
  )
}
